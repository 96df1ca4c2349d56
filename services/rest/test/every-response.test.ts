// The responses that belong to no operation of the OpenAPI document. tools/openapi tests all others against the document,
// and tools/checks/conformance/contract tests the headers of both APIs.
import { afterAll, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

it.each([
  [400, "MALFORMED_REQUEST", "OPTIONS", "/v1/pets", { headers: { Host: "a b" } }],
  [400, "MALFORMED_REQUEST", "GET", "/docs/get-pet-removal.md", { headers: { Host: "a b" } }],
  [401, "API_KEY_MISSING", "DELETE", "/v1/none", {}],
  [404, "ROUTE_NOT_FOUND", "GET", "/v1/none", { key }],
  [404, "ROUTE_NOT_FOUND", "GET", "/elsewhere", { key }],
  [405, "METHOD_NOT_ALLOWED", "PUT", "/v1/pets", { key }],
] as const)("%i %s to %s %s has every header and the Error shape", async (status, code, method, path, options) => {
  const headers = { Origin: "https://shop.example", ...("headers" in options && options.headers) };
  const answer = await store.call(method, path, { ...options, headers });
  expect(answer.status).toBe(status);
  expect(answer.json).toEqual({ code, message: expect.stringMatching(/^\S.*\.?$/), status });
  const { limit, remaining, reset } = answer.rateLimit;
  expect([limit, remaining, reset].every(Number.isSafeInteger)).toBe(true);
  expect(remaining).toBeLessThanOrEqual(limit);
  expect(reset * 1_000).toBeGreaterThan(store.clock.nowMs);
  expect(answer.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "x-request-id": expect.stringMatching(/^[\da-f-]{36}$/),
  });
  expect(answer.headers["retry-after"]).toBeUndefined();
  expect(answer.headers["x-powered-by"]).toBeUndefined();
});
