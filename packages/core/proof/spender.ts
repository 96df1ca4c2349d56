// One of several processes that spend the units of one account at the same time. It ends with the process that forked it.
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { createRedisQuota } from "../src/quota/engines/redis-quota.js";
import type { Limits } from "../src/quota/plan.js";

export interface Order {
  readonly account: string;
  readonly limits: Limits;
  /** How many callers run at once. Each calls again as soon as it has its decision. */
  readonly callers: number;
  /** The number of requests of all callers together. */
  readonly requests: number;
  /** Costs are drawn from 1 to this. */
  readonly largestCost: number;
  readonly nowMs: number;
  /** The start on the clock of the machine, late enough for every process to have the order. */
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
      // The parent process waits for a message or for the end of this process.
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
