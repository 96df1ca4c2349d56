import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const unavailable = { status: 503, json: { code: "SERVICE_UNAVAILABLE", message: expect.any(String), status: 503 } };
const preflight = { "Access-Control-Request-Method": "GET" };

describe("while no database accepts connections", async () => {
  // Nothing listens on port 1, so connecting is refused at once.
  const store = await openTestStore({ environment: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" } });
  afterAll(() => store[Symbol.asyncDispose]());
  const key = mintApiKey("live", randomBytes);

  it.each([
    ["GET", "/v1/pets", {}],
    ["POST", "/v1/pets", { body: '{"name":"Ada","categoryId":1}' }],
    ["GET", "/v1/pets/1", {}],
    ["GET", "/v1/none", {}],
  ])(
    "%s %s answers 503 with Retry-After and the triple, and costs the address nothing",
    async (method, path, options) => {
      for (let time = 0; time < 3; time++) {
        const answer = await store.call(method, path, { ...options, key });
        expect(answer).toMatchObject({ ...unavailable, rateLimit: { limit: 300, remaining: 300 } });
        expect(answer.headers["retry-after"]).toBe("1");
        expect(answer.headers["www-authenticate"]).toBeUndefined();
      }
    },
  );

  it("requests that need no database get their usual responses", async () => {
    expect((await store.call("GET", "/docs/get-pet-removal.md")).status).toBe(200);
    expect((await store.call("OPTIONS", "/v1/pets", { headers: preflight })).status).toBe(204);
    expect(await store.call("GET", "/v1/pets", { key: "malformed" })).toMatchObject({
      status: 401,
      rateLimit: { remaining: 299 },
    });
    expect(await store.call("GET", "/v1/pets")).toMatchObject({ status: 401, rateLimit: { remaining: 298 } });
  });
});

describe("while a table is locked for writes", async () => {
  const store = await openTestStore({
    environment: { DATABASE_ACQUIRE_TIMEOUT_MS: "300", DATABASE_WRITE_TIMEOUT_MS: "2000" },
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it("a create gets 503 because the database did not answer in time; lists and /readyz still work", async () => {
    const { key } = await store.issueKey();
    await store.call("GET", "/v1/pets", { key });
    await store.execute("begin");
    await store.execute("lock table pets in share mode");
    const creates = Array.from({ length: 30 }, (_, index) =>
      store.call("POST", "/v1/pets", {
        key,
        body: '{"name":"Ada","categoryId":1}',
        headers: { "Idempotency-Key": `${index}` },
      }),
    );
    const busy = { status: 200, json: { status: "degraded" } };
    await expect.poll(() => store.call("GET", "/readyz")).toMatchObject(busy);
    expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);
    const message = "The database did not answer in time; try again shortly.";
    const answers = await Promise.all(creates);
    await store.execute("rollback");
    for (const answer of answers) expect(answer).toMatchObject({ status: 503, json: { ...unavailable.json, message } });
    expect((await store.call("POST", "/v1/pets", { key, body: '{"name":"Ada","categoryId":1}' })).status).toBe(201);
  });
});

describe("while statements time out", async () => {
  const store = await openTestStore({
    environment: { DATABASE_READ_TIMEOUT_MS: "1000", DATABASE_WRITE_TIMEOUT_MS: "1000" },
  });
  afterAll(() => store[Symbol.asyncDispose]());

  it.each([
    ["GET", "/v1/pets", {}],
    ["POST", "/v1/pets", { body: '{"name":"Ada","categoryId":1}' }],
    ["POST", "/v1/pets", { body: '{"name":"Ada","categoryId":1}', headers: { "Idempotency-Key": "later" } }],
    ["GET", "/v1/pets/1", {}],
  ])(
    "%s %s gets 503, gives the unit back to the account, and works again afterwards",
    async (method, path, options) => {
      const { key } = await store.issueKey({ plan: "free" });
      await store.call("GET", "/v1/none", { key });
      await store.execute("begin");
      await store.execute("lock table pets in access exclusive mode");
      const answer = await store.call(method, path, { ...options, key });
      await store.execute("rollback");
      expect(answer.status).toBe(503);
      expect(answer.headers["retry-after"]).toBe("1");
      expect(answer.rateLimit).toMatchObject({ limit: 60, remaining: 59 });
      expect((await store.call(method, path, { ...options, key })).status).toBeLessThan(500);
    },
  );

  it("an error that a retry cannot solve is 500, and counts", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    await store.execute("alter table pets rename to renamed_pets");
    const answer = await store.call("GET", "/v1/pets", { key });
    await store.execute("alter table renamed_pets rename to pets");
    expect(answer).toMatchObject({ status: 500, json: { code: "INTERNAL_ERROR" }, rateLimit: { remaining: 59 } });
    expect(answer.headers["retry-after"]).toBeUndefined();
    expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);
  });
});
