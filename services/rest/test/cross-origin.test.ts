import { afterAll, describe, expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

const store = await openTestStore();
afterAll(() => store[Symbol.asyncDispose]());
const { key } = await store.issueKey();

const preflight = {
  Origin: "https://shop.example",
  "Access-Control-Request-Method": "POST",
  "Access-Control-Request-Headers": "authorization,content-type,apollographql-client-name,sentry-trace,traceparent",
};

const listOf = (header: string | undefined) => (header ?? "").toLowerCase().split(/,\s*/);

describe("a preflight", () => {
  it.each(["/v1/pets", "/v1/pets/1"])("of %s needs no key, and allows every header it asks for", async (path) => {
    const { status, headers, text } = await store.call("OPTIONS", path, { headers: preflight });
    expect([status, text]).toEqual([204, ""]);
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(listOf(headers["access-control-allow-methods"])).toEqual(["get", "head", "post"]);
    expect(headers["access-control-allow-headers"]).toBe(preflight["Access-Control-Request-Headers"]);
  });

  it("is not counted, and reports the quota of its address", async () => {
    for (let count = 0; count < 5; count++) {
      const { rateLimit } = await store.call("OPTIONS", "/v1/pets", { headers: preflight });
      expect(rateLimit).toEqual({ limit: 300, remaining: 300, reset: store.clock.nowMs / 1_000 + 60 });
    }
    expect((await store.call("GET", "/v1/pets")).rateLimit.remaining).toBe(299);
    expect((await store.call("OPTIONS", "/v1/pets", { headers: preflight })).rateLimit.remaining).toBe(299);
  });

  it("is not counted against a key", async () => {
    const caller = await store.issueKey({ plan: "free" });
    await store.call("OPTIONS", "/v1/pets", { key: caller.key, headers: preflight });
    expect((await store.call("GET", "/v1/pets", { key: caller.key })).rateLimit.remaining).toBe(59);
  });
});

describe("a response to a script of another origin", () => {
  const origin = { Origin: "https://shop.example" };

  it.each([
    ["200", { key }],
    ["401", {}],
  ])("%s allows any origin, without credentials", async (status, options) => {
    const answer = await store.call("GET", "/v1/pets", { ...options, headers: origin });
    expect(`${answer.status}`).toBe(status);
    expect(answer.headers["access-control-allow-origin"]).toBe("*");
    expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
  });

  it("has no CORS headers if the request has no Origin", async () => {
    const { headers } = await store.call("GET", "/v1/pets", { key });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it.each([
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Link",
    "Deprecation",
    "Sunset",
    "WWW-Authenticate",
    "Idempotency-Replayed",
    "X-Request-Id",
    "Allow",
    "Date",
  ])("exposes %s", async (name) => {
    const { headers } = await store.call("GET", "/v1/pets", { key, headers: origin });
    expect(listOf(headers["access-control-expose-headers"])).toContain(name.toLowerCase());
  });
});
