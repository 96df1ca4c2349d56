import { afterAll, describe, expect, it } from "vitest";
import { openTestStore, type TestStoreOptions } from "./test-store.js";

// Nothing listens on port 1, so connecting is refused at once.
const REDIS_URL = "redis://127.0.0.1:1";

describe("while Redis is unavailable", async () => {
  const store = await open({ REDIS_URL, QUOTA_INSTANCES: "2", METRICS_PORT: "0" });
  const { key } = await store.issueKey({ customLimits: { perMinute: 10, perDay: 1_000 } });

  it("is ready and degraded, and names Redis only on the metrics port", async () => {
    const { status, json } = await store.call("GET", "/readyz");
    expect({ status, json }).toEqual({ status: 200, json: { status: "degraded" } });
    expect(await store.probe("/readyz")).toEqual({ status: 200, json: { status: "degraded", degraded: ["redis"] } });
  });

  it("admits this instance's share of the account's limit, then refuses", async () => {
    for (const remaining of [4, 3, 2, 1, 0]) {
      expect(await store.call("GET", "/v1/pets", { key })).toMatchObject({
        status: 200,
        rateLimit: { limit: 10, remaining },
      });
    }
    expect(await store.call("GET", "/v1/pets", { key })).toMatchObject({
      status: 429,
      json: { code: "RATE_LIMIT_EXCEEDED" },
      rateLimit: { limit: 10, remaining: 0 },
    });
  });
});

describe("while Redis is unavailable and the setting is deny", async () => {
  const store = await open({ REDIS_URL, QUOTA_ON_REDIS_FAILURE: "deny" });
  const { key } = await store.issueKey();

  it("answers 503 to a request with a valid key, with Retry-After and the quota headers", async () => {
    const answer = await store.call("GET", "/v1/pets", { key });
    expect(answer).toMatchObject({ status: 503, json: { code: "SERVICE_UNAVAILABLE", status: 503 } });
    expect(answer.headers["retry-after"]).toBe("1");
    expect(Object.values(answer.rateLimit)).not.toContain(Number.NaN);
  });

  it("answers 401 to a request without a key, because addresses are counted in the process", async () => {
    expect(await store.call("GET", "/v1/pets")).toMatchObject({
      status: 401,
      rateLimit: { limit: 300, remaining: 299 },
    });
  });
});

async function open(environment: NonNullable<TestStoreOptions["environment"]>) {
  const store = await openTestStore({ environment });
  afterAll(() => store[Symbol.asyncDispose]());
  return store;
}
