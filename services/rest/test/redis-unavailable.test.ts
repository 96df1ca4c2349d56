import { describeWithRedis, shared } from "@petstore/harness";
import { openRedisCluster } from "@petstore/harness/redis";
import { expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

// Nothing listens on port 1, so connecting is refused at once.
const REDIS_URL = "redis://127.0.0.1:1";

it("while Redis is unavailable, is degraded, admits this instance's share of a limit, and counts the outage", async () => {
  await using store = await openTestStore({ REDIS_URL, QUOTA_INSTANCES: "2", METRICS_PORT: "0" });
  const { key } = await store.issueKey({ customLimits: { perMinute: 10, perDay: 1_000 } });
  expect(await store.call("GET", "/readyz")).toMatchObject({ status: 200, text: '{"status":"degraded"}' });
  expect(await store.readiness()).toEqual({ status: "degraded", degraded: ["redis"] });
  const list = () => store.call("GET", "/v1/pets", { key });
  for (const remaining of [4, 3, 2, 1, 0]) {
    expect(await list()).toMatchObject({ status: 200, rateLimit: { limit: 10, remaining } });
  }
  expect(await list()).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", rateLimit: { limit: 10 } });
  const decided = 'petstore_quota_decisions_total{bucket="account",mode="fallback",outcome=';
  expect(Object.fromEntries(await store.scrape())).toMatchObject({
    [`${decided}"admitted"}`]: 5,
    [`${decided}"refused"}`]: 1,
    petstore_quota_outages_total: 1,
    'petstore_quota_mode{mode="fallback"}': 1,
  });
  expect(store.logged.filter((line) => line.includes("Redis is unavailable"))).toHaveLength(1);
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

describeWithRedis("while a master of a Redis Cluster is unavailable", async () => {
  const cluster = await shared(openRedisCluster());
  const REDIS_URL = cluster.nodes.map(({ url }) => url).join();

  it("is degraded and ready, and names the shard by its lowest slot, also in the metrics and in the log", async () => {
    await using store = await openTestStore({ REDIS_URL, REDIS_COMMAND_TIMEOUT_MS: "5000", METRICS_PORT: "0" });
    expect(await store.readiness()).toEqual({ status: "ready" });
    await cluster.nodes[1]?.kill();
    const degraded = { status: "degraded", degraded: ["redis shard 5461"] };
    await expect.poll(() => store.readiness(), { timeout: 30_000 }).toEqual(degraded);
    expect(await store.call("GET", "/readyz")).toMatchObject({ status: 200, text: '{"status":"degraded"}' });
    expect(Object.fromEntries(await store.scrape())).toMatchObject({
      'petstore_quota_mode{mode="fallback"}': 1,
      'petstore_quota_shard_fallback{shard="0"}': 0,
      'petstore_quota_shard_fallback{shard="5461"}': 1,
      'petstore_quota_shard_fallback{shard="10923"}': 0,
      'petstore_quota_outages_total{shard="0"}': 0,
      'petstore_quota_outages_total{shard="5461"}': 1,
    });
    expect(store.logged.filter((line) => line.includes("Redis is unavailable"))).toEqual([
      expect.stringContaining('"shard":"5461"'),
    ]);
  });
});
