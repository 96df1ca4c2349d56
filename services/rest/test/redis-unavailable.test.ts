import { describe, expect, it } from "vitest";
import { openSharedStore, openTestStore } from "./test-store.js";

// Nothing listens on port 1, so connecting is refused at once.
const REDIS_URL = "redis://127.0.0.1:1";

describe("while Redis is unavailable", async () => {
  const store = await openSharedStore({ REDIS_URL, QUOTA_INSTANCES: "2", METRICS_PORT: "0" });
  const { key } = await store.issueKey({ customLimits: { perMinute: 10, perDay: 1_000 } });

  it("is ready and degraded, and names Redis only on the metrics port", async () => {
    expect(await store.call("GET", "/readyz")).toMatchObject({ status: 200, text: '{"status":"degraded"}' });
    expect(await store.probe("/readyz")).toEqual({ status: 200, json: { status: "degraded", degraded: ["redis"] } });
  });

  it("admits this instance's share of the account's limit, then refuses, and counts the outage", async () => {
    for (const remaining of [4, 3, 2, 1, 0]) {
      const answer = await store.call("GET", "/v1/pets", { key });
      expect(answer).toMatchObject({ status: 200, rateLimit: { limit: 10, remaining } });
    }
    const refused = await store.call("GET", "/v1/pets", { key });
    expect(refused).toMatchObject({ status: 429, json: { code: "RATE_LIMIT_EXCEEDED" }, rateLimit: { limit: 10 } });
    const decided = (outcome: string) =>
      `petstore_quota_decisions_total{bucket="account",mode="fallback",outcome="${outcome}"}`;
    const series = [decided("admitted"), decided("refused"), "petstore_quota_outages_total"];
    const scraped = await store.scrape();
    expect(series.map((name) => scraped.get(name))).toEqual([5, 1, 1]);
    expect(scraped.get('petstore_quota_mode{mode="fallback"}')).toBe(1);
    expect(store.logged.filter((line) => line.includes("Redis is unavailable"))).toHaveLength(1);
  });
});

it("with the setting deny, answers 503 with Retry-After to a valid key, and 401 to no key, counted in the process", async () => {
  await using store = await openTestStore({ REDIS_URL, QUOTA_ON_REDIS_FAILURE: "deny" });
  const { key } = await store.issueKey({ plan: "free" });
  expect(await store.call("GET", "/v1/pets", { key })).toMatchObject({
    status: 503,
    code: "SERVICE_UNAVAILABLE",
    headers: { "retry-after": "1" },
    rateLimit: { limit: 60 },
  });
  const withoutKey = await store.call("GET", "/v1/pets");
  expect(withoutKey).toMatchObject({ status: 401, rateLimit: { limit: 300, remaining: 299 } });
});
