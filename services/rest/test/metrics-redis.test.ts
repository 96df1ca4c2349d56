import { describeWithRedis } from "@petstore/harness";
import { openRedisServer } from "@petstore/harness/redis";
import { expect, it } from "vitest";
import { openTestStore } from "./test-store.js";

describeWithRedis("metrics of a shared quota", () => {
  it("count decisions by mode, and the outages of Redis", async () => {
    await using redis = await openRedisServer();
    // A long timeout, so that a busy machine does not count as an outage.
    const environment = { METRICS_PORT: "0", REDIS_URL: redis.url, REDIS_COMMAND_TIMEOUT_MS: "2000" };
    await using store = await openTestStore({ environment });
    const { key } = await store.issueKey();
    const admitted = async (mode: string) =>
      (await store.scrape()).get(`petstore_quota_decisions_total{bucket="account",mode="${mode}",outcome="admitted"}`);

    await store.call("GET", "/v1/pets", { key });
    expect([await admitted("shared"), await admitted("fallback")]).toEqual([1, 0]);
    expect((await store.scrape()).get("petstore_quota_outages_total")).toBe(0);

    await redis.kill();
    await store.call("GET", "/v1/pets", { key });
    await store.call("GET", "/v1/pets", { key });
    expect([await admitted("shared"), await admitted("fallback")]).toEqual([1, 2]);
    const scraped = await store.scrape();
    expect(scraped.get("petstore_quota_outages_total")).toBe(1);
    expect(scraped.get('petstore_quota_mode{mode="fallback"}')).toBe(1);
    expect(store.logged.filter((line) => line.includes("Redis is unavailable"))).toHaveLength(1);
  });
});
