import { describeWithRedis } from "@petstore/harness";
import { openRedisServer, type RedisServer } from "@petstore/harness/redis";
import { afterAll, beforeAll } from "vitest";
import type { BanPolicy } from "../../../src/quota/ban-policy.js";
import { createBreaker } from "../../../src/quota/engines/fallback/breaker.js";
import { createFallbackQuota } from "../../../src/quota/engines/fallback/fallback-quota.js";
import { createLastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import { openRedis, type RedisConnection } from "../../../src/quota/engines/redis-connection.js";
import { createRedisQuota } from "../../../src/quota/engines/redis-quota.js";
import type { Quota } from "../../../src/quota/quota.js";
import { type OpenedQuota, openAtVirtualTime } from "../caller.js";
import { describeQuota } from "../describe-quota.js";

const log = { info() {}, warn() {}, error() {} };

describeWithRedis("with a fallback", () => {
  let server: RedisServer;
  let healthy: RedisConnection;
  let unavailable: RedisConnection;

  beforeAll(async () => {
    server = await openRedisServer();
    healthy = await open(server.url);
    await using stopped = await openRedisServer();
    await stopped.kill();
    unavailable = await open(stopped.url);
  });
  afterAll(async () => {
    healthy?.[Symbol.dispose]();
    unavailable?.[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  describeQuota("fallback, Redis healthy,", "shared", async (banPolicy) => openOn(healthy, banPolicy));

  describeQuota("fallback, Redis unavailable,", "fallback", async (banPolicy) => {
    const { quota, ...opened } = openOn(unavailable, banPolicy);
    return { ...opened, quota: withoutRejections(quota) };
  });
});

function open(url: string): Promise<RedisConnection> {
  return openRedis({ urls: [url], isCluster: false, decisionTimeoutMs: 0 });
}

/** The deadline is long enough for a busy machine. Other tests are about missed deadlines. */
function openOn(connection: RedisConnection, banPolicy: BanPolicy): OpenedQuota {
  return openAtVirtualTime(({ now }) => {
    const redisQuota = createRedisQuota({ redis: connection.redis, banPolicy, now });
    const breaker = createBreaker({ connection, probe: async () => {}, deadlineMs: 10_000, log });
    const counts = createLastKnownCounts({ now, banPolicy, instances: 1, currentOutage: breaker.outages });
    return createFallbackQuota({ redisQuota, breaker, counts, onFailure: "local" });
  });
}

/** Both reject because Redis does not learn of them. The suite is about their effect on this instance. */
function withoutRejections(quota: Quota): Quota {
  return {
    ...quota,
    liftBan: (target) => quota.liftBan(target).catch(() => {}),
    reset: (target) => quota.reset(target).catch(() => {}),
  };
}
