// One engine: its name and the Redis are its arguments. Makes the decisions that the benchmark orders.
import { createRedisQuota, openRedis } from "@petstore/core";
import { percentile } from "@petstore/harness/figures";
import { RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import type { Measured } from "../benchmark.js";
import type { EngineOrder } from "./quota.js";

const [, , name, redisUrl = ""] = process.argv;
/** No load uses up this limit: the benchmark measures admitted requests. */
const limit = 2_147_483_647;

const decide = await openEngine();
let turn = 0;

process.on("message", async (order: EngineOrder) => process.send?.(await measure(order)));
process.once("disconnect", () => process.exit());

/** Returns a function that spends one unit of an account. It rejects when the unit is not admitted. */
async function openEngine(): Promise<(account: string) => Promise<unknown>> {
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
async function measure({ callers, seconds, accounts }: EngineOrder): Promise<Measured> {
  const latenciesMs: number[] = [];
  const cpuAtStart = process.cpuUsage();
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
  const elapsedSeconds = (performance.now() - startedAtMs) / 1_000;
  const { user, system } = process.cpuUsage(cpuAtStart);
  return {
    "decisions/s": latenciesMs.length / elapsedSeconds,
    "p50 ms": percentile(latenciesMs, 50),
    "p99 ms": percentile(latenciesMs, 99),
    "CPU us/decision": (user + system) / latenciesMs.length,
  };
}
