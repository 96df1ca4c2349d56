// The responses that tools/checks/conformance/contract cannot cause have the same headers and Error shape as all others.
import { afterAll, expect, it } from "vitest";
import { type CallOptions, openTestStore } from "./test-store.js";

const store = await openTestStore({
  environment: { DATABASE_READ_TIMEOUT_MS: "3000", DATABASE_WRITE_TIMEOUT_MS: "3000" },
});
afterAll(() => store[Symbol.asyncDispose]());
const { key, accountId } = await store.issueKey();
const body = '{"name":"Ada","categoryId":1}';
await store.call("POST", "/v1/pets", { key, body });

interface Case {
  readonly status: number;
  readonly code: string;
  readonly call: readonly [method: string, path: string, options?: CallOptions];
  readonly atMs?: number;
  /** SQL statements that cause the fault, and statements that undo it. */
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

const holdKey = `insert into idempotency_keys values (${accountId}, 'held', '', 1, now())`;
const malformed = { headers: { Host: "a b" } };

const cases: Case[] = [
  { status: 400, code: "MALFORMED_REQUEST", call: ["GET", "/v1/pets", { key, ...malformed }] },
  { status: 400, code: "MALFORMED_REQUEST", call: ["OPTIONS", "/v1/pets", malformed] },
  { status: 400, code: "MALFORMED_REQUEST", call: ["GET", "/docs/get-pet-removal.md", malformed] },
  { status: 401, code: "API_KEY_MISSING", call: ["DELETE", "/v1/none"] },
  { status: 404, code: "ROUTE_NOT_FOUND", call: ["GET", "/v1/none", { key }] },
  { status: 404, code: "ROUTE_NOT_FOUND", call: ["GET", "/v1/pets/%zz", { key }] },
  { status: 404, code: "ROUTE_NOT_FOUND", call: ["GET", "/elsewhere", { key }] },
  {
    status: 409,
    code: "IDEMPOTENCY_IN_PROGRESS",
    call: ["POST", "/v1/pets", { key, body, headers: { "Idempotency-Key": "held" } }],
    before: ["begin", holdKey],
    after: ["rollback"],
  },
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

it.each(cases)(
  "$status $code to $call.0 $call.1 has every header and the Error shape",
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
