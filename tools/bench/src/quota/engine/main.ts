// One engine, named by ENGINE. Makes the decisions that the benchmark orders.
import { createRedisQuota, openRedis } from "@petstore/core";
import { RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import { percentile } from "../../target.js";
import type { EngineLoad, EngineOrder } from "../quota.js";

/** Spends one unit of an account. Rejects when it is not admitted. */
type Decide = (account: string) => Promise<unknown>;

const { ENGINE: name, REDIS_URL: redisUrl = "" } = process.env;
/** No load uses up this limit: the benchmark measures admitted requests. */
const limit = 2_147_483_647;

const decide = await openEngine();
let turn = 0;

process.on("message", (order: EngineOrder) => {
  if (order.kind !== "load") return;
  makeLoad(order).then(
    (load) => process.send?.(load),
    (error: unknown) => process.send?.({ error: `${error instanceof Error ? error : JSON.stringify(error)}` }),
  );
});
process.stdout.write("ready\n");

async function openEngine(): Promise<Decide> {
  const { redis } = await openRedis({ urls: [redisUrl], isCluster: false, decisionTimeoutMs: 100 });
  if (name === "petstore-redis") {
    const quota = createRedisQuota({ redis });
    const limits = { perMinute: limit, perDay: limit };
    return async (account) => {
      const { outcome } = await quota.reserve({ account, key: account, limits, cost: 1 });
      if (outcome !== "admitted") throw new Error(outcome);
    };
  }
  // Joined as the guide of rate-limiter-flexible joins two windows, on the connection that our services open.
  const union = new RateLimiterUnion(
    new RateLimiterRedis({ storeClient: redis, keyPrefix: "rlf:minute", points: limit, duration: 60 }),
    new RateLimiterRedis({ storeClient: redis, keyPrefix: "rlf:day", points: limit, duration: 86_400 }),
  );
  return (account) => union.consume(account);
}

/** Every caller decides for the next account as soon as it has its last decision. */
async function makeLoad({ callers, seconds, accounts }: EngineOrder): Promise<EngineLoad> {
  const latenciesMs: number[] = [];
  const startedAtMs = performance.now();
  const endAtMs = startedAtMs + seconds * 1_000;

  async function callOn(): Promise<void> {
    for (;;) {
      const startMs = performance.now();
      if (startMs >= endAtMs) return;
      turn = (turn + 1) % accounts;
      await decide(`${1 + turn}`);
      latenciesMs.push(performance.now() - startMs);
    }
  }

  await Promise.all(Array.from({ length: callers }, callOn));
  return {
    decisions: latenciesMs.length,
    seconds: (performance.now() - startedAtMs) / 1_000,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
  };
}
