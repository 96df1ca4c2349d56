import { maxInt64, minInt64 } from "@petstore/core";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const create = (body: string | Buffer) => store.call("POST", "/v1/pets", { key, body });
const numRuns = 200;

const anyName = fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), anyCodeUnits());
const anyNumber = fc.oneof(fc.bigInt().map(String), fc.double().map(String), fc.constantFrom("1e400", "-0", "1.0"));
const nearlyPet = fc
  .record(
    {
      name: fc.oneof({ weight: 4, arbitrary: anyName }, fc.jsonValue()).map((value) => JSON.stringify(value)),
      categoryId: fc.oneof({ weight: 4, arbitrary: anyNumber }, fc.json()),
      status: fc.oneof(fc.constantFrom('"sold"', '"pending"', '"available"'), fc.json()),
      id: fc.json(),
    },
    { requiredKeys: [] },
  )
  .map((pet) => `{${Object.entries(pet).map(([name, value]) => `"${name}":${value}`)}}`);

it("any JSON body is 201 or 400", async () => {
  const property = fc.asyncProperty(fc.oneof(nearlyPet, fc.json()), async (body) => {
    expect([201, 400]).toContain((await create(body)).status);
  });
  await fc.assert(property, { numRuns });
});

it("any bytes are 201 or 400", async () => {
  const property = fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
    expect([201, 400]).toContain((await create(Buffer.from(bytes))).status);
  });
  await fc.assert(property, { numRuns });
});

it("any int64 comes back exactly, and larger integers are refused", async () => {
  const int64 = fc.bigInt({ min: minInt64, max: maxInt64 });
  const property = fc.asyncProperty(fc.oneof(int64, fc.bigInt()), async (categoryId) => {
    const { status, text } = await create(`{"name":"Ada","categoryId":${categoryId}}`);
    const fits = categoryId >= minInt64 && categoryId <= maxInt64;
    expect(status).toBe(fits ? 201 : 400);
    expect(text.includes(`"categoryId":${categoryId},`)).toBe(fits);
  });
  await fc.assert(property, { numRuns });
});

it("any name comes back unchanged, or is refused", async () => {
  const property = fc.asyncProperty(anyName, async (name) => {
    const { status, json } = await create(JSON.stringify({ name, categoryId: 1 }));
    expect([201, 400]).toContain(status);
    if (status === 201) expect((json as { name: string }).name).toBe(name);
  });
  await fc.assert(property, { numRuns });
});

it("any query is 200 or 400", async () => {
  const name = fc.oneof(fc.constantFrom("limit", "status", "cursor", "__proto__"), fc.string({ unit: "binary" }));
  const value = fc.oneof(fc.integer().map(String), fc.constantFrom("sold", "20"), fc.string({ unit: "binary" }));
  const encoded = fc
    .array(fc.tuple(name, value), { maxLength: 4 })
    .map((pairs) => pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&"));
  const raw = fc.stringMatching(/^[!-"$-~]*$/);
  const property = fc.asyncProperty(fc.oneof(encoded, raw), async (query) => {
    expect([200, 400]).toContain((await store.call("GET", `/v1/pets?${query}`, { key })).status);
  });
  await fc.assert(property, { numRuns });
});

it("any path is 200, 400 or 404, with the triple", async () => {
  const property = fc.asyncProperty(fc.stringMatching(/^[!-"$-~]*$/), async (rest) => {
    const { status, rateLimit } = await store.call("GET", `/v1/pets/${rest}`, { key });
    expect([200, 400, 404]).toContain(status);
    expect(rateLimit.limit).toBe(1_000_000);
  });
  await fc.assert(property, { numRuns });
});

/** UTF-16 with lone surrogates, as a script may cut it. */
function anyCodeUnits(): fc.Arbitrary<string> {
  return fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd700, max: 0xe0ff })), { maxLength: 12 })
    .map((units) => String.fromCharCode(...units));
}
