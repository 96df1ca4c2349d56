// Two counters and nothing else, no bans and no headers, on the connection that our services open.
import { openRedis } from "@petstore/core";
import { openTwoCounters } from "../../two-counters.js";
import { limit, serveOrders } from "../serve-orders.js";

const { redis } = await openRedis({
  urls: [process.env.REDIS_URL ?? ""],
  isCluster: false,
  commandTimeoutMs: 100,
});
const count = await openTwoCounters(redis, "two-counters:");

serveOrders(async (account) => {
  const { minute, day } = await count(account);
  if (minute > limit || day > limit) throw new Error("refused");
});
