// tools/checks/conformance/contract sends lists, creates and gets to a running service, with every digit of an int64.
import { createPetStoreClient } from "@petstore/client";
import { expect, it } from "vitest";
import { createScriptedService, problem, respond, resultsAfter, rexJson, useVirtualTime } from "./scripted-service.js";

useVirtualTime();

/** Advances the time by two minutes, and returns the result of the call. */
async function settle<T>(call: Promise<T>): Promise<T> {
  await resultsAfter(120_000, call);
  return call;
}

it("iterates over all pages with one request each, and fetches no page early", async () => {
  const { client, received } = createScriptedService((_request, index) => {
    const link = `</v1/pets?limit=100&cursor=C${index + 1}>; rel="next"`;
    return respond(200, `[${rexJson},${rexJson}]`, { headers: index < 2 ? { Link: link } : {} });
  });
  const firstNames = async (count: number): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of client.pets.all({ status: "available" })) {
      found.push(name);
      if (found.length === count) break;
    }
    return found;
  };
  expect(await settle(firstNames(3))).toHaveLength(3);
  expect(received.map(({ url }) => url.split("?")[1])).toEqual([
    "limit=100&status=available",
    "limit=100&status=available&cursor=C1",
  ]);
});

it("rejects a number that is already rounded, before it sends a request", async () => {
  const { client, received } = createScriptedService(() => respond(201, rexJson));
  // biome-ignore lint/correctness/noPrecisionLoss: the test needs a number that lost precision.
  await expect(settle(client.pets.create({ name: "Rex", categoryId: 9007199254740993 }))).rejects.toThrow(RangeError);
  expect(received).toEqual([]);
});

it("sends a new Idempotency-Key with each create, or the key of the caller", async () => {
  const { client, received } = createScriptedService(() => respond(201, rexJson));
  for (const options of [{}, {}, { idempotencyKey: "order 7" }]) {
    await settle(client.pets.create({ name: "Rex", categoryId: 1 }, options));
  }
  const keys = received.map(({ headers }) => headers.get("idempotency-key"));
  expect(keys[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe("order 7");
});

it.each(["a\nb", "\u{1f436}"])("rejects the idempotency key %j before it sends a request", async (idempotencyKey) => {
  const { client, received } = createScriptedService(() => respond(201, rexJson));
  await expect(settle(client.pets.create({ name: "Rex", categoryId: 1 }, { idempotencyKey }))).rejects.toThrow(
    TypeError,
  );
  expect(received).toEqual([]);
});

it("accepts a base address with a trailing slash", async () => {
  const baseUrl = "http://localhost:3000/v1/";
  const { client, received } = createScriptedService(() => respond(200, "[]"), { baseUrl });
  await settle(client.pets.list());
  expect(received[0]?.url).toBe("http://localhost:3000/v1/pets");
});

it.each([
  "/v1",
  "localhost:3000/v1",
  "ftp://localhost/v1",
  "http://user:password@localhost/v1",
  "http://localhost/v1?version=1",
  "http://localhost/v1#pets",
])("rejects the base address %s", (baseUrl) => {
  expect(() => createPetStoreClient({ baseUrl, apiKey: "key" })).toThrow(TypeError);
});

it("rejects a key that no header can hold, and does not show it", () => {
  const message = /^apiKey must be printable ASCII without blanks$/;
  expect(() => createPetStoreClient({ baseUrl: "http://localhost/v1", apiKey: "sécret\n" })).toThrow(message);
});

it("rejects a page that names itself as the next page, so that a loop over all pages ends", async () => {
  const headers = { Link: '</v1/pets?cursor=C1>; rel="next"' };
  const { client, received } = createScriptedService(() => respond(200, "[]", { headers }));
  const readAll = async () => {
    for await (const _page of client.pets.pages());
  };
  await expect(settle(readAll())).rejects.toMatchObject({ code: "UNEXPECTED_RESPONSE" });
  expect(received).toHaveLength(2);
});

it.each([0, -1, 0.5, Number.NaN])("rejects %d as maxConcurrent: no request would start", (maxConcurrent) => {
  const options = { baseUrl: "http://localhost/v1", apiKey: "key", maxConcurrent };
  expect(() => createPetStoreClient(options)).toThrow(RangeError);
});

it.each([
  [-1, 1],
  [1.5, 3],
  [Number.NaN, 1],
])("with %d as maxRetries sends %i requests", async (maxRetries, requests) => {
  const { client, received } = createScriptedService(() => problem(500, "INTERNAL_ERROR"), { maxRetries });
  await resultsAfter(60_000, client.pets.list());
  expect(received).toHaveLength(requests);
});
