import { createPetStoreClient } from "@petstore/client";
import { openHttpServer } from "@petstore/harness/network";
import { expect, it } from "vitest";

it("follows no redirect", async () => {
  const received: (string | undefined)[] = [];
  await using server = await openHttpServer((request, response) => {
    received.push(request.url);
    response.writeHead(308, { Location: "/elsewhere" }).end();
  });
  const { pets } = createPetStoreClient({ baseUrl: `${server.url}/v1`, apiKey: "key" });
  await expect(pets.list()).rejects.toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 308 });
  expect(received).toEqual(["/v1/pets"]);
});
