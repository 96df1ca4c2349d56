// Limits of clients without a valid key, over both APIs.
import { randomBytes } from "node:crypto";
import { mintApiKey } from "@petstore/core";
import { createGraphqlRouter } from "@petstore/graphql";
import { describeWithRedis } from "@petstore/harness";
import { openRedisServer } from "@petstore/harness/redis";
import { createRestRouter } from "@petstore/rest";
import { openTestStore } from "@petstore/test-store";
import { describe, expect, it } from "vitest";
import { codeOf, lists } from "./store-behind-proxy.js";

const routers = [createRestRouter, createGraphqlRouter];
const behindProxy = { TRUST_PROXY: "127.0.0.0/8" };

describe("an address that sends unknown keys", () => {
  it("has 10 looked up, and is answered 503 after that, with its counters and without being counted", async () => {
    await using store = await openTestStore({ routers, environment: { ...behindProxy, METRICS_PORT: "0" } });
    for (const [index, list] of lists.entries()) {
      const from = `192.0.2.${index}`;
      const queries = await lookUps("miss");
      for (let count = 1; count <= 10; count++) {
        const answer = await list(store, { key: unknownKey(), from });
        expect(answer).toMatchObject({ status: 401, rateLimit: { remaining: 300 - count } });
      }
      for (let count = 0; count < 3; count++) {
        const answer = await list(store, { key: unknownKey(), from });
        expect(answer).toMatchObject({ status: 503, rateLimit: { limit: 300, remaining: 290 } });
        expect(answer.headers["retry-after"]).toBe("1");
        expect(codeOf(answer)).toBe("SERVICE_UNAVAILABLE");
      }
      expect(await lookUps("miss")).toBe((queries ?? 0) + 10);
      expect(await lookUps("refused")).toBe(3 * (index + 1));
      store.clock.nowMs += 1_000;
      expect((await list(store, { key: unknownKey(), from })).status).toBe(401);
    }

    async function lookUps(result: string): Promise<number | undefined> {
      return (await store.scrape()).get(`petstore_key_lookups_total{result="${result}"}`);
    }
  });

  it("is still served with keys that were valid within the last hour, and so is everybody else with any key", async () => {
    await using store = await openTestStore({ routers, environment: behindProxy });
    const seen = await store.issueKey();
    const other = await store.issueKey();
    for (const list of lists) {
      expect((await list(store, { key: seen.key, from: "192.0.2.1" })).status).toBe(200);
      store.clock.nowMs += 1_800_000;
      for (let count = 0; count < 11; count++) await list(store, { key: unknownKey(), from: "192.0.2.1" });
      expect((await list(store, { key: unknownKey(), from: "192.0.2.1" })).status).toBe(503);
      expect((await list(store, { key: seen.key, from: "192.0.2.1" })).status).toBe(200);
    }
    expect((await lists[0]?.(store, { key: other.key, from: "192.0.2.2" }))?.status).toBe(200);
  });
});

describeWithRedis("addresses without a valid key", () => {
  it("leave nothing in Redis", async () => {
    await using redis = await openRedisServer();
    const environment = { ...behindProxy, REDIS_URL: redis.url, REDIS_COMMAND_TIMEOUT_MS: "5000" };
    await using store = await openTestStore({ routers, environment });
    for (let address = 1; address <= 100; address++) {
      for (const list of lists) expect((await list(store, { from: `198.51.100.${address}` })).status).toBe(401);
    }
    expect(await redis.command("keys", "*")).toEqual([]);
    const { key } = await store.issueKey();
    await lists[0]?.(store, { key });
    expect(await redis.command("keys", "*")).toHaveLength(1);
  });
});

function unknownKey(): string {
  return mintApiKey("test", randomBytes);
}
