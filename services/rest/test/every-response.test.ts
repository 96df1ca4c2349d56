// Every response has the quota headers, the Error shape if it is an error, the request id and the CORS headers.
import { problems } from "@petstore/core";
import { afterAll, describe, expect, it } from "vitest";
import { type CallOptions, openTestStore } from "./test-store.js";

const store = await openTestStore({
  environment: {
    DATABASE_READ_TIMEOUT_MS: "3000",
    DATABASE_WRITE_TIMEOUT_MS: "3000",
    BAN_STRIKES: "1",
    BAN_STRIKES_PER_UNIT: "0",
    BAN_GRACE_MS: "0",
  },
});
afterAll(() => store[Symbol.asyncDispose]());
const { key, accountId } = await store.issueKey();
const expired = await store.issueKey({ expiresAt: new Date(0) });
const revoked = await store.issueKey();
await store.revokeKey(revoked.keyId);
const oneAMinute = await store.issueKey({ customLimits: { perMinute: 1, perDay: 9 } });
const oneADay = await store.issueKey({ customLimits: { perMinute: 9, perDay: 1 } });
const hammering = await store.issueKey({ customLimits: { perMinute: 1, perDay: 9 } });
for (const caller of [oneAMinute, oneADay, hammering, hammering]) await store.call("GET", "/v1/none", caller);
store.clock.nowMs += 1;
await store.call("GET", "/v1/none", hammering);

const body = '{"name":"Ada","categoryId":1}';
const once = { "Idempotency-Key": "once" };
await store.call("POST", "/v1/pets", { key, body, headers: once });

interface Case {
  readonly status: number;
  readonly code?: string;
  readonly call: readonly [method: string, path: string, options?: CallOptions];
  readonly atMs?: number;
  /** SQL statements that cause the fault, and statements that undo it. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const holdKey = `insert into idempotency_keys values (${accountId}, 'held', '', 1, now())`;

const cases: Case[] = [
  { status: 200, call: ["GET", "/v1/pets", { key }] },
  { status: 200, call: ["GET", "/v1/pets/1", { key }] },
  { status: 201, call: ["POST", "/v1/pets", { key, body }] },
  { status: 201, call: ["POST", "/v1/pets", { key, body, headers: once }] },
  { status: 400, code: "INVALID_JSON", call: ["POST", "/v1/pets", { key, body: "{" }] },
  { status: 400, code: "VALIDATION_FAILED", call: ["POST", "/v1/pets", { key, body: "{}" }] },
  { status: 400, code: "VALIDATION_FAILED", call: ["GET", "/v1/pets?limit=0", { key }] },
  { status: 400, code: "INVALID_CURSOR", call: ["GET", "/v1/pets?cursor=x", { key }] },
  { status: 400, code: "MALFORMED_REQUEST", call: ["GET", "/v1/pets", { key, headers: { Host: "a b" } }] },
  { status: 400, code: "MALFORMED_REQUEST", call: ["OPTIONS", "/v1/pets", { headers: { Host: "a b" } }] },
  { status: 400, code: "MALFORMED_REQUEST", call: ["GET", "/docs/get-pet-removal.md", { headers: { Host: "a b" } }] },
  { status: 401, code: "API_KEY_MISSING", call: ["GET", "/v1/pets"] },
  { status: 401, code: "API_KEY_INVALID", call: ["GET", "/v1/pets", { key: "x" }] },
  { status: 401, code: "API_KEY_EXPIRED", call: ["GET", "/v1/pets", expired] },
  { status: 401, code: "API_KEY_REVOKED", call: ["GET", "/v1/pets", revoked] },
  { status: 401, code: "API_KEY_MISSING", call: ["DELETE", "/v1/none"] },
  { status: 404, code: "PET_NOT_FOUND", call: ["GET", "/v1/pets/0", { key }] },
  { status: 404, code: "ROUTE_NOT_FOUND", call: ["GET", "/v1/none", { key }] },
  { status: 404, code: "ROUTE_NOT_FOUND", call: ["GET", "/v1/pets/%zz", { key }] },
  { status: 404, code: "ROUTE_NOT_FOUND", call: ["GET", "/elsewhere", { key }] },
  { status: 405, code: "METHOD_NOT_ALLOWED", call: ["PUT", "/v1/pets", { key, body }] },
  { status: 406, code: "NOT_ACCEPTABLE", call: ["GET", "/v1/pets", { key, headers: { Accept: "text/html" } }] },
  {
    status: 409,
    code: "IDEMPOTENCY_IN_PROGRESS",
    call: ["POST", "/v1/pets", { key, body, headers: { "Idempotency-Key": "held" } }],
    before: ["begin", holdKey],
    after: ["rollback"],
  },
  { status: 413, code: "PAYLOAD_TOO_LARGE", call: ["POST", "/v1/pets", { key, body: body.padEnd(65_537) }] },
  {
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
    call: ["POST", "/v1/pets", { key, body, headers: { "Content-Type": "text/plain" } }],
  },
  {
    status: 422,
    code: "IDEMPOTENCY_KEY_REUSED",
    call: ["POST", "/v1/pets", { key, body: body.replace("1", "2"), headers: once }],
  },
  { status: 429, code: "RATE_LIMIT_EXCEEDED", call: ["GET", "/v1/pets", oneAMinute] },
  { status: 429, code: "DAILY_QUOTA_EXCEEDED", call: ["GET", "/v1/pets", oneADay] },
  { status: 429, code: "API_KEY_BANNED", call: ["GET", "/v1/pets", hammering] },
  { status: 431, code: "HEADERS_TOO_LARGE", call: ["GET", "/v1/pets", { key, headers: { X: Array(201).fill("") } }] },
  { status: 431, code: "HEADERS_TOO_LARGE", call: ["GET", "/v1/pets", { key, headers: { X: "x".repeat(17_000) } }] },
  {
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    call: ["GET", "/v1/pets", { key }],
    before: ["begin", "lock table pets in access exclusive mode"],
    after: ["rollback"],
  },
  {
    status: 500,
    code: "INTERNAL_ERROR",
    call: ["GET", "/v1/pets", { key }],
    before: ["alter table pets rename to renamed_pets"],
    after: ["alter table renamed_pets rename to pets"],
  },
  {
    status: 500,
    code: "INTERNAL_ERROR",
    call: ["POST", "/v1/pets", { key, body }],
    before: ["alter table pets rename to renamed_pets"],
    after: ["alter table renamed_pets rename to pets"],
  },
  { status: 410, code: "ENDPOINT_REMOVED", call: ["GET", "/v1/pets/1", { key }], atMs: Date.UTC(2030, 11, 5) },
];

describe("every response", () => {
  it.each(cases)(
    "$status $code to $call.0 $call.1 carries all of it",
    async ({ status, code, call: [method, path, options], atMs, before, after }) => {
      store.clock.nowMs = atMs ?? store.clock.nowMs;
      for (const sql of before ?? []) await store.execute(sql);
      const headers = { Origin: "https://shop.example", ...options?.headers };
      const answer = await store.call(method, path, { ...options, headers });
      for (const sql of after ?? []) await store.execute(sql);

      expect(answer.status).toBe(status);
      const { limit, remaining, reset } = answer.rateLimit;
      expect([limit, remaining, reset].every(Number.isSafeInteger)).toBe(true);
      expect(limit).toBeGreaterThanOrEqual(1);
      expect(remaining).toBeGreaterThanOrEqual(0);
      expect(remaining).toBeLessThanOrEqual(limit);
      expect(reset * 1_000).toBeGreaterThan(store.clock.nowMs);

      if (code !== undefined)
        expect(answer.json).toEqual({ code, message: expect.stringMatching(/^\S.*\.?$/), status });
      const mustSayWhen = [409, 429, 503].includes(status);
      expect(answer.headers["retry-after"] !== undefined).toBe(mustSayWhen);
      if (mustSayWhen) expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(answer.headers["www-authenticate"] !== undefined).toBe(status === 401);
      expect(answer.headers).toMatchObject({
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "x-request-id": expect.stringMatching(/^[\da-f-]{36}$/),
      });
      expect(answer.headers["x-powered-by"]).toBeUndefined();
    },
  );

  it("covers each code that the REST API can return", () => {
    // Most of these belong to GraphQL. The last one takes half a minute, and the tests of the HTTP server cover it.
    const elsewhere = ["GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "OPERATION_TOO_LARGE", "REQUEST_TIMEOUT"];
    const above = new Set(cases.flatMap(({ code }) => code ?? []));
    expect([...above, ...elsewhere].sort()).toEqual(Object.keys(problems).sort());
  });

  it("lists both windows in RateLimit and RateLimit-Policy", async () => {
    store.clock.nowMs = Math.ceil(store.clock.nowMs / 86_400_000) * 86_400_000 + 1_500;
    const caller = await store.issueKey({ plan: "free" });
    const { headers } = await store.call("GET", "/v1/pets", { key: caller.key });
    expect(headers["ratelimit-policy"]).toBe('"minute";q=60;w=60, "day";q=1000;w=86400');
    expect(headers.ratelimit).toBe('"minute";r=59;t=59, "day";r=999;t=86399');
  });
});

describe("X-Request-Id", () => {
  it.each(["a", "4711", "2f1e6c0e-3f0c-4c52-9d2b-6c1f0a3f7f0e", "trace:1/2+3=4_5.6-7", "x".repeat(128)])(
    "repeats a safe id: %s",
    async (id) => {
      const headers = { "X-Request-Id": id };
      expect((await store.call("GET", "/v1/pets", { key, headers })).headers["x-request-id"]).toBe(id);
      expect((await store.call("GET", "/v1/none", { headers })).headers["x-request-id"]).toBe(id);
    },
  );

  it.each(["", "x".repeat(129), "two words", '"quoted"', "<b>", "a,b", "\u00e9", "a;b", "{}"])(
    "replaces any other id: %j",
    async (id) => {
      const { headers } = await store.call("GET", "/v1/pets", { key, headers: { "X-Request-Id": id } });
      expect(headers["x-request-id"]).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    },
  );

  it("is a new id if the client sends two", async () => {
    const { headers } = await store.call("GET", "/v1/pets", { key, headers: { "X-Request-Id": ["a", "b"] } });
    expect(headers["x-request-id"]).toMatch(/^[\da-f-]{36}$/);
  });

  it("is in the log line of the request", async () => {
    await store.call("GET", "/v1/pets", { key, headers: { "X-Request-Id": "find-me" } });
    // The service writes the line after the response, so the client may be faster.
    await expect
      .poll(() => store.logged.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === "find-me"))
      .toEqual([expect.objectContaining({ method: "GET", route: "/v1/pets", status: 200 })]);
  });
});
