import { createPetStoreClient } from "@petstore/client";
import { openHttpServer } from "@petstore/harness/network";
import { expect, it } from "vitest";

it.each([301, 308])("follows no redirect with the status %i", async (status) => {
  const received: string[] = [];
  await using target = await openHttpServer((request, response) => {
    received.push(`${request.method} ${request.url}`);
    response.end("[]");
  });
  await using source = await openHttpServer((_request, response) => {
    response.writeHead(status, { Location: `${target.url}/v1/pets` }).end();
  });
  const { pets } = createPetStoreClient({ baseUrl: `${source.url}/v1`, apiKey: "key" });
  const unexpected = { code: "UNEXPECTED_RESPONSE", status };
  await expect(pets.list()).rejects.toMatchObject(unexpected);
  await expect(pets.create({ name: "Rex", categoryId: 1 })).rejects.toMatchObject(unexpected);
  expect(received).toEqual([]);
});
