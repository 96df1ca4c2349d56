// The sentences of the interface about keys, errors, limits and versions.
import { afterAll, describe, expect, it } from "vitest";
import { type CallOptions, openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const roomy = await store.issueKey();

const endpoints: [method: string, path: string, options: CallOptions][] = [
  ["GET", "/v1/pets", {}],
  ["POST", "/v1/pets", { body: '{"name":"Ada","categoryId":1}' }],
  ["GET", "/v1/pets/1", {}],
];

describe("Authentication", () => {
  it.each(endpoints)(
    "%s %s takes the API key as the bearer token in the Authorization header",
    async (method, path, options) => {
      await store.call("POST", "/v1/pets", { key: roomy.key, body: '{"name":"Ada","categoryId":1}' });
      const headers = { Authorization: `Bearer ${roomy.key}` };
      expect((await store.call(method, path, { ...options, headers })).status).toBeLessThan(300);
    },
  );

  it.each(endpoints)("%s %s answers 401 with an Error body when the key is missing", async (method, path, options) => {
    const answer = await store.call(method, path, options);
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual({ code: "API_KEY_MISSING", message: expect.any(String), status: 401 });
  });

  it.each(endpoints)("%s %s answers 401 with an Error body when the key is invalid", async (method, path, options) => {
    const answer = await store.call(method, path, { ...options, key: "no-key-of-ours" });
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual({ code: "API_KEY_INVALID", message: expect.any(String), status: 401 });
  });

  it("a create without a key adds nothing", async () => {
    const list = () => store.call("GET", "/v1/pets?status=sold", { key: roomy.key });
    const before = (await list()).text;
    await store.call("POST", "/v1/pets", { body: '{"name":"Ada","categoryId":1,"status":"sold"}' });
    expect((await list()).text).toBe(before);
  });
});

describe("Rate limits by plan", () => {
  it.each([
    ["Free", "free", 60, 1_000],
    ["Pro", "pro", 300, 10_000],
    ["Business", "business", 1_000, 100_000],
  ] as const)("%s has the requests per minute and day of its plan", async (_name, plan, perMinute, perDay) => {
    const { key } = await store.issueKey({ plan });
    const first = await store.call("GET", "/v1/pets?limit=1", { key });
    expect(first.rateLimit.limit).toBe(perMinute);
    expect(first.headers["ratelimit-policy"]).toBe(`"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`);
    const rest = await Promise.all(Array.from({ length: perMinute }, () => store.call("GET", "/v1/none", { key })));
    const statuses = rest.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(perMinute - 1).fill(404), 429]);
  });

  it("Enterprise has custom limits", async () => {
    const customLimits = { perMinute: 3, perDay: 5 };
    const { key } = await store.issueKey({ plan: "enterprise", customLimits });
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await store.call("GET", "/v1/pets", { key }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[0]?.rateLimit).toMatchObject({ limit: 3, remaining: 2 });
    expect(answers[0]?.headers["ratelimit-policy"]).toBe('"minute";q=3;w=60, "day";q=5;w=86400');
  });

  it("a higher plan has higher limits at once, and keeps the used count", async () => {
    const { key, accountId } = await store.issueKey({ plan: "free" });
    await Promise.all(Array.from({ length: 60 }, () => store.call("GET", "/v1/pets", { key })));
    expect((await store.call("GET", "/v1/pets", { key })).status).toBe(429);
    await store.execute(`update accounts set plan = 'pro' where id = ${accountId}`);
    // An instance may cache the old plan for five seconds.
    store.clock.nowMs += 5_001;
    const answer = await store.call("GET", "/v1/pets", { key });
    expect(answer).toMatchObject({ status: 200, rateLimit: { limit: 300, remaining: 239 } });
  });
});

describe("Rate limit headers", () => {
  it("X-RateLimit-Limit is the current limit, Remaining the rest of it, Reset a Unix timestamp", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    const nextMinute = Math.floor(store.clock.nowMs / 60_000) * 60 + 60;
    const first = await store.call("GET", "/v1/pets", { key });
    expect(first.rateLimit).toEqual({ limit: 60, remaining: 59, reset: nextMinute });
    const second = await store.call("GET", "/v1/pets", { key });
    expect(second.rateLimit).toEqual({ limit: 60, remaining: 58, reset: nextMinute });
  });

  it("the limit resets at X-RateLimit-Reset", async () => {
    const { key } = await store.issueKey({ plan: "free" });
    const { rateLimit } = await store.call("GET", "/v1/pets", { key });
    store.clock.nowMs = rateLimit.reset * 1_000 - 1;
    expect((await store.call("GET", "/v1/pets", { key })).rateLimit.remaining).toBe(58);
    store.clock.nowMs = rateLimit.reset * 1_000;
    expect((await store.call("GET", "/v1/pets", { key })).rateLimit.remaining).toBe(59);
  });
});

describe("Behaviour when the limit is exceeded", () => {
  it("a request over the limit receives status 429, with a Retry-After header that states when the client may retry", async () => {
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 10 } });
    await store.call("GET", "/v1/pets", { key });
    const refused = await store.call("GET", "/v1/pets", { key });
    expect(refused.status).toBe(429);
    expect(refused.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect(refused.json).toEqual({ code: "RATE_LIMIT_EXCEEDED", message: expect.any(String), status: 429 });
    store.clock.nowMs += Number(refused.headers["retry-after"]) * 1_000;
    expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);
  });

  it("repeated requests after a 429 lead to a temporary ban of the API key", async () => {
    store.clock.nowMs = Math.ceil(store.clock.nowMs / 60_000) * 60_000;
    const { key } = await store.issueKey({ customLimits: { perMinute: 1, perDay: 10 } });
    const codes = [];
    for (let count = 0; count < 123; count++) {
      const { json } = await store.call("GET", "/v1/none", { key });
      codes.push((json as { code: string }).code);
      // Refusals in the first two seconds are no strikes: these requests were in flight when the quota ran out.
      if (count === 1) store.clock.nowMs += 2_001;
    }
    expect(codes.slice(0, 2)).toEqual(["ROUTE_NOT_FOUND", "RATE_LIMIT_EXCEEDED"]);
    expect(codes.slice(-2)).toEqual(["API_KEY_BANNED", "API_KEY_BANNED"]);
    store.clock.nowMs += 61_000;
    expect((await store.call("GET", "/v1/pets", { key })).status).toBe(200);
  });
});

describe("Versioning", () => {
  it.each(["/pets", "/v2/pets", "/v1.0/pets", "/1/pets"])(
    "the version is carried as the path segment v1: %s is not found",
    async (path) => {
      const answer = await store.call("GET", path, { key: roomy.key });
      expect(answer).toMatchObject({ status: 404, json: { code: "ROUTE_NOT_FOUND" } });
    },
  );

  it("GET /pets/{petId} has a fixed removal date of 5 December 2030", async () => {
    const { headers } = await store.call("GET", "/v1/pets/1", { key: roomy.key });
    expect(headers.sunset).toBe("Thu, 05 Dec 2030 00:00:00 GMT");
  });
});
