import { createPetStoreClient, PetStoreError } from "@petstore/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { answer, createScriptedService, rexJson, useVirtualTime } from "./scripted-service.js";

beforeEach(useVirtualTime);
afterEach(() => vi.useRealTimers());

const rex = { id: 9223372036854775807n, name: "Rex", categoryId: 9007199254740993n, status: "available" };

/** What a call comes to when as much time passes as it wants. */
async function settle<T>(call: Promise<T>): Promise<T> {
  call.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(120_000);
  return call;
}

it("lists a page, with the key as bearer token, and tells where the next one begins", async () => {
  const link = '</v1/pets?status=sold&limit=2&cursor=AQ>; rel="next"';
  const { client, received } = createScriptedService(() => answer(200, `[${rexJson}]`, { headers: { Link: link } }));
  const page = await settle(client.pets.list({ limit: 2, status: "sold", cursor: "AP" }));
  expect(page).toEqual({ pets: [rex], nextCursor: "AQ" });
  expect(received[0]).toMatchObject({
    method: "GET",
    url: "https://petstore.example/v1/pets?limit=2&status=sold&cursor=AP",
  });
  expect(received[0]?.headers.get("authorization")).toBe("Bearer pets_test_key");
});

it("sends no query when nothing is asked for, and tells of no next page on the last", async () => {
  const { client, received } = createScriptedService(() => answer(200, "[]"));
  expect(await settle(client.pets.list())).toEqual({ pets: [] });
  expect(received[0]?.url).toBe("https://petstore.example/v1/pets");
});

it("goes through all pages, one request each, and fetches none that is not asked for", async () => {
  const { client, received } = createScriptedService((_request, index) => {
    const link = `</v1/pets?limit=100&cursor=C${index + 1}>; rel="next"`;
    return answer(200, `[${rexJson},${rexJson}]`, { headers: index < 2 ? { Link: link } : {} });
  });
  const names = async (atMost: number): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of client.pets.all({ status: "available" })) {
      found.push(name);
      if (found.length === atMost) break;
    }
    return found;
  };
  expect(await settle(names(3))).toHaveLength(3);
  expect(received.map(({ url }) => url.split("?")[1])).toEqual([
    "limit=100&status=available",
    "limit=100&status=available&cursor=C1",
  ]);
});

it("writes and reads int64 digit for digit, in every notation a caller may use", async () => {
  const { client, received } = createScriptedService(() => answer(201, rexJson));
  for (const categoryId of [9007199254740993n, "9007199254740993", 7]) {
    expect(await settle(client.pets.create({ name: 'R"ex', categoryId, status: "sold" }))).toEqual(rex);
  }
  expect(received.map(({ body }) => body)).toEqual([
    '{"name":"R\\"ex","categoryId":9007199254740993,"status":"sold"}',
    '{"name":"R\\"ex","categoryId":9007199254740993,"status":"sold"}',
    '{"name":"R\\"ex","categoryId":7,"status":"sold"}',
  ]);
  expect(received[0]?.headers.get("content-type")).toBe("application/json");
});

it("refuses a number that is rounded already, before anything is sent", async () => {
  const { client, received } = createScriptedService(() => answer(201, rexJson));
  // biome-ignore lint/correctness/noPrecisionLoss: the loss is what is refused.
  await expect(settle(client.pets.create({ name: "Rex", categoryId: 9007199254740993 }))).rejects.toThrow(RangeError);
  await expect(settle(client.pets.get("1e3"))).rejects.toThrow(RangeError);
  expect(received).toEqual([]);
});

it("gives every create an Idempotency-Key of its own, unless the caller names one", async () => {
  const { client, received } = createScriptedService(() => answer(201, rexJson));
  for (const options of [{}, {}, { idempotencyKey: "order 7" }]) {
    await settle(client.pets.create({ name: "Rex", categoryId: 1 }, options));
  }
  const keys = received.map(({ headers }) => headers.get("idempotency-key"));
  expect(keys[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(new Set(keys).size).toBe(3);
  expect(keys[2]).toBe("order 7");
});

it("fetches one animal by any int64", async () => {
  const { client, received } = createScriptedService(() => answer(200, rexJson));
  expect(await settle(client.pets.get("9223372036854775807"))).toEqual(rex);
  expect(received[0]?.url).toBe("https://petstore.example/v1/pets/9223372036854775807");
});

it.each([
  ["no JSON", "<html>"],
  ["no array", rexJson],
  ["no animal", "[1]"],
  ["null", "[null]"],
  ["an unknown status", '[{"id":1,"name":"Rex","categoryId":1,"status":"lost"}]'],
  ["an id that is no integer", '[{"id":1.5,"name":"Rex","categoryId":1,"status":"sold"}]'],
])("rejects an answer that is %s with UNEXPECTED_RESPONSE, and does not repeat it", async (_what, body) => {
  const { client, received } = createScriptedService(() => answer(200, body));
  const error = await settle(client.pets.list()).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PetStoreError);
  expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 200, requestId: "request-1" });
  expect(received).toHaveLength(1);
});

it("takes a base address with a slash at its end, and refuses what is none", async () => {
  const { client, received } = createScriptedService(() => answer(200, "[]"), { baseUrl: "http://localhost:3000/v1/" });
  await settle(client.pets.list());
  expect(received[0]?.url).toBe("http://localhost:3000/v1/pets");
  expect(() => createPetStoreClient({ baseUrl: "/v1", apiKey: "key" })).toThrow(TypeError);
});

it("refuses a key that no header can carry, and does not show it", () => {
  expect(() => createPetStoreClient({ baseUrl: "http://localhost/v1", apiKey: "sécret\n" })).toThrow(
    /^apiKey must be printable ASCII without blanks$/,
  );
});
