// Two windows in rate-limit-redis, one after the other, as two middlewares of express-rate-limit would ask for them.
import { openRedis } from "@petstore/core";
import { RedisStore } from "rate-limit-redis";
import { limit, serveOrders } from "../serve-orders.js";

const { redis } = await openRedis({
  urls: [process.env.REDIS_URL ?? ""],
  isCluster: false,
  commandTimeoutMs: 100,
});
const minute = await openStore("rlr:minute:", 60_000);
const day = await openStore("rlr:day:", 86_400_000);

serveOrders(async (account) => {
  if ((await minute.increment(account)).totalHits > limit) throw new Error("refused by the minute");
  if ((await day.increment(account)).totalHits > limit) throw new Error("refused by the day");
});

async function openStore(prefix: string, windowMs: number): Promise<RedisStore> {
  const store = new RedisStore({
    prefix,
    sendCommand: async (command, ...words) => (await redis.call(command, ...words)) as string | number,
  });
  await store.init({ windowMs } as Parameters<RedisStore["init"]>[0]);
  return store;
}
