// The engine that many processes share, on the connection that the services open.
import { createRedisQuota, openRedis } from "@petstore/core";
import { limit, serveOrders } from "../serve-orders.js";

const { redis } = await openRedis({
  urls: [process.env.REDIS_URL ?? ""],
  isCluster: false,
  decisionTimeoutMs: 100,
});
const quota = createRedisQuota({ redis });
const limits = { perMinute: limit, perDay: limit };

serveOrders(async (account, key) => {
  const { outcome } = await quota.reserve({ account, key, limits, cost: 1 });
  if (outcome !== "admitted") throw new Error(outcome);
});
