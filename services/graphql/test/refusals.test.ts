// A request that is refused before the execution gets the HTTP status and the headers of REST, and no data.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { type AskOptions, errorsOf, openGraphqlStore } from "./test-store.js";

const store = await openGraphqlStore({
  environment: { DATABASE_READ_TIMEOUT_MS: "3000", DATABASE_WRITE_TIMEOUT_MS: "3000" },
});
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();
const query = "{ pets { id } }";

const refused = (status: number, code: string) => ({
  status,
  json: { errors: [{ message: expect.any(String), extensions: { code, status } }] },
});

describe("without a valid key", async () => {
  const expired = await store.issueKey({ expiresAt: new Date(0) });
  const revoked = await store.issueKey();
  await store.revokeKey(revoked.keyId);

  it.each<[string, string, AskOptions]>([
    ["none", "API_KEY_MISSING", {}],
    ["another scheme", "API_KEY_MISSING", { headers: { authorization: "Basic eDp5" } }],
    ["a malformed one", "API_KEY_INVALID", { key: "pets_live_x" }],
    ["an unknown one", "API_KEY_INVALID", { key: mintApiKey("live", randomBytes) }],
    ["an expired one", "API_KEY_EXPIRED", { key: expired.key }],
    ["a revoked one", "API_KEY_REVOKED", { key: revoked.key }],
  ])("%s: 401 %s, introspection included, counted by address", async (_what, code, options) => {
    for (const asked of [query, "{ __schema { types { name } } }", "{ pets("]) {
      const answer = await store.ask(asked, options);
      expect(answer).toMatchObject({ ...refused(401, code), rateLimit: { limit: 300 } });
      expect(answer.json).not.toHaveProperty("data");
      expect(answer.headers["www-authenticate"]).toMatch(/^Bearer realm="petstore"/);
    }
  });

  it("checks the key before method, media type, size and body", async () => {
    expect((await store.call("PUT", "/graphql")).status).toBe(401);
    expect(
      (await store.call("POST", "/graphql", { body: "x".repeat(70_000), headers: { accept: "text/html" } })).status,
    ).toBe(401);
  });
});

describe("with a key, the first check is", () => {
  it.each<[string, string, string, number]>([
    ["the method, before Accept", "PUT", "text/html", 405],
    ["Accept, before the media type of the body", "POST", "text/html", 406],
    ["the media type, before the body", "POST", "*/*", 415],
  ])("%s", async (_what, method, accept, status) => {
    const headers = { accept, "content-type": "text/plain" };
    expect((await store.call(method, "/graphql", { key, body: "x".repeat(70_000), headers })).status).toBe(status);
  });
});

it("a create that waits for a locked table gets 503: the database did not answer in time", async () => {
  await store.execute("begin");
  await store.execute("lock table pets in share mode");
  const mutation = 'mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }';
  const [created, listed] = await Promise.all([store.ask(mutation, { key }), store.ask(query, { key })]);
  await store.execute("rollback");
  expect(listed.status).toBe(200);
  expect(created.headers["retry-after"]).toBe("1");
  expect(errorsOf(created)).toMatchObject([
    {
      message: "The database did not answer in time; try again shortly.",
      extensions: { code: "SERVICE_UNAVAILABLE", status: 503 },
    },
  ]);
});

it("every response has the quota headers, a request id, no-store and the CORS headers", async () => {
  const origin = { origin: "https://example.com" };
  for (const [asked, options] of [
    [query, { key }],
    ["{ pets(", { key }],
    ["{ pets(limit: 0) { id } }", { key }],
    [query, {}],
    [query, { key, headers: { accept: "text/html" } }],
  ] as const) {
    const headers = { ...origin, ...("headers" in options && options.headers) };
    const answer = await store.ask(asked, { ...options, headers });
    expect(answer.rateLimit).toEqual({
      limit: expect.any(Number),
      remaining: expect.any(Number),
      reset: expect.any(Number),
    });
    expect(answer.rateLimit.reset).toBeGreaterThan(store.clock.nowMs / 1_000);
    expect(answer.headers).toMatchObject({
      "x-request-id": expect.stringMatching(/./),
      "cache-control": "no-store",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": expect.stringContaining("Idempotency-Replayed"),
    });
  }
});

it("a used-up minute and a used-up day have different codes, and Retry-After", async () => {
  for (const [customLimits, code] of [
    [{ perMinute: 1, perDay: 9 }, "RATE_LIMIT_EXCEEDED"],
    [{ perMinute: 9, perDay: 1 }, "DAILY_QUOTA_EXCEEDED"],
  ] as const) {
    const caller = await store.issueKey({ customLimits });
    await store.ask(query, caller);
    const answer = await store.ask(query, caller);
    expect(answer).toMatchObject(refused(429, code));
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  }
});

it("bans a key that keeps sending requests after 429", async () => {
  const caller = await store.issueKey({ plan: "free" });
  await Promise.all(Array.from({ length: 61 }, () => store.ask(query, caller)));
  store.clock.nowMs += 2_001;
  const codes = [];
  for (let strike = 1; strike <= 120; strike++)
    codes.push(errorsOf(await store.ask(query, caller))[0]?.extensions.code);
  expect(codes).toEqual([...Array(119).fill("RATE_LIMIT_EXCEEDED"), "API_KEY_BANNED"]);
  expect((await store.ask(query, caller)).headers["retry-after"]).toMatch(/^\d+$/);
});

describe("while no database accepts connections", async () => {
  const unavailable = await openGraphqlStore({
    environment: { DATABASE_URL: "postgres://nobody@127.0.0.1:1/nothing" },
  });
  afterAll(() => unavailable[Symbol.asyncDispose]());

  it("a key that cannot be checked gets 503 with Retry-After, and costs its address nothing", async () => {
    const answer = await unavailable.ask(query, { key: mintApiKey("live", randomBytes) });
    expect(answer).toMatchObject({ ...refused(503, "SERVICE_UNAVAILABLE"), rateLimit: { limit: 300, remaining: 300 } });
    expect(answer.headers["retry-after"]).toBe("1");
  });
});

describe("while statements time out", () => {
  const whileLocked = async (asked: string, caller: { key: string }) => {
    await store.ask("{ __typename }", caller);
    await store.execute("begin");
    await store.execute("lock table pets in access exclusive mode");
    const answer = await store.ask(asked, caller);
    await store.execute("rollback");
    return answer;
  };

  it.each([
    ["a list", query, 1],
    ["a connection", "{ petsConnection { nodes { id } } }", 1],
    ["three lists", "{ a: pets { id } b: pets { id } c: pets { id } }", 3],
    ["a mutation", 'mutation { createPet(input: {name: "Ada", categoryId: 1}) { id } }', 1],
    [
      "two mutations",
      'mutation { a: createPet(input: {name: "Ada", categoryId: 1}) { id } b: createPet(input: {name: "Ada", categoryId: 1}) { id } }',
      2,
    ],
  ])("%s gets 503 with Retry-After, gives all units back, and works afterwards", async (_what, asked, cost) => {
    const caller = await store.issueKey({ plan: "free" });
    const answer = await whileLocked(asked, caller);
    expect(answer).toMatchObject({ ...refused(503, "SERVICE_UNAVAILABLE"), rateLimit: { limit: 60, remaining: 59 } });
    expect(answer.headers["retry-after"]).toBe("1");
    expect(await store.ask(asked, caller)).toMatchObject({ status: 200, rateLimit: { remaining: 59 - cost } });
  });

  it("a mutation that has added one pet is 200, with the error of the other, and counts", async () => {
    const caller = await store.issueKey({ plan: "free" });
    await store.execute(`create function wait_long() returns trigger language plpgsql as
      'begin perform pg_sleep(5); return new; end'`);
    await store.execute(`create trigger wait before insert on pets for each row when (new.name = 'Bo')
      execute function wait_long()`);
    const answer = await store.ask(
      'mutation { a: createPet(input: {name: "Ada", categoryId: 1}) { id } b: createPet(input: {name: "Bo", categoryId: 1}) { id } }',
      caller,
    );
    expect(answer).toMatchObject({
      status: 200,
      json: {
        data: null,
        errors: [{ path: ["b"], extensions: { code: "SERVICE_UNAVAILABLE", status: 503 } }],
        extensions: { cost: 2 },
      },
      rateLimit: { remaining: 58 },
    });
    expect(answer.headers["retry-after"]).toBe("1");
  });
});
