import { describeWithRedis } from "@petstore/testing";
import { openRedisServer, type RedisServer } from "@petstore/testing/redis";
import { afterAll, beforeAll } from "vitest";
import type { BanPolicy } from "../../src/quota/ban-policy.js";
import { createBreaker } from "../../src/quota/engines/fallback/breaker.js";
import { createFailoverQuota } from "../../src/quota/engines/fallback/fallback-quota.js";
import { createSharedClock } from "../../src/quota/engines/fallback/shared-clock.js";
import { openRedis, type RedisConnection } from "../../src/quota/engines/redis-connection.js";
import { createRedisQuota } from "../../src/quota/engines/redis-quota.js";
import type { Quota } from "../../src/quota/quota.js";
import { type OpenedQuota, openAtVirtualTime } from "./caller.js";
import { describeQuota } from "./describe-quota.js";

const log = { info() {}, warn() {}, error() {} };

describeWithRedis("with a stand-in", () => {
  let server: RedisServer;
  let healthy: RedisConnection;
  let away: RedisConnection;

  beforeAll(async () => {
    server = await openRedisServer();
    healthy = await open(server.url);
    await using gone = await openRedisServer();
    await gone.kill();
    away = await open(gone.url);
  });
  afterAll(async () => {
    healthy?.[Symbol.dispose]();
    away?.[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
  });

  describeQuota("failover, Redis healthy,", "shared", async (banPolicy) => openOn(healthy, banPolicy));

  describeQuota("failover, Redis away,", "fallback", async (banPolicy) => {
    const { quota, ...opened } = openOn(away, banPolicy);
    return { ...opened, quota: actingHere(quota) };
  });
});

function open(url: string): Promise<RedisConnection> {
  return openRedis({ urls: [url], isCluster: false, commandTimeoutMs: 0 });
}

/** With a deadline that no busy machine misses: what happens then is the subject of other tests. */
function openOn(connection: RedisConnection, banPolicy: BanPolicy): OpenedQuota {
  return openAtVirtualTime(({ now }) => {
    const shared = createRedisQuota({ redis: connection.redis, banPolicy, now });
    const breaker = createBreaker({ connection, probe: async () => {}, deadlineMs: 10_000, log });
    const clock = createSharedClock(now);
    return createFailoverQuota({ shared, breaker, clock, banPolicy, instances: 1, onFailure: "local" });
  });
}

/** They reject because Redis cannot be told; what they do here is what the suite asks about. */
function actingHere(quota: Quota): Quota {
  return {
    ...quota,
    liftBan: (target) => quota.liftBan(target).catch(() => {}),
    reset: (target) => quota.reset(target).catch(() => {}),
  };
}
