// One of the processes that spend the units of one account at the same time. It lives as long as the one that forked it.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import type { Limits } from "../src/quota/plan.js";

export interface Order {
  readonly account: string;
  readonly limits: Limits;
  /** How many call at once, each again as soon as it has its answer. */
  readonly callers: number;
  /** Of all callers together. */
  readonly requests: number;
  /** Costs are drawn from 1 to this. */
  readonly largestCost: number;
  readonly nowMs: number;
  /** On the machine's clock: an instant by which every process has the order. */
  readonly beginAtMs: number;
}

export interface Spent {
  readonly units: number;
}

const [redisUrl = "", key = ""] = process.argv.slice(2);
const redis = new Redis(redisUrl);
let nowMs = 0;
const quota = createRedisQuota({ redis, now: () => nowMs });

process.on("message", (order: Order) => {
  spend(order).then(
    (spent) => process.send?.(spent),
    (error: unknown) => {
      // The end of this process is what tells the one that waits.
      process.stderr.write(`${error}\n`);
      process.exit(1);
    },
  );
});
process.once("disconnect", () => redis.disconnect());

async function spend(order: Order): Promise<Spent> {
  const { account, limits, callers, requests, largestCost, beginAtMs } = order;
  nowMs = order.nowMs;
  await sleep(beginAtMs - Date.now());
  let units = 0;
  let left = requests;
  const call = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const cost = 1 + Math.floor(Math.random() * largestCost);
      const { outcome } = await quota.reserve({ account, key, limits, cost });
      if (outcome === "admitted") units += cost;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return { units };
}
