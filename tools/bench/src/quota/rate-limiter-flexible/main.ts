// Two windows in rate-limiter-flexible, as its guide joins them, on the connection that our services open.
import { openRedis } from "@petstore/core";
import { RateLimiterRedis, RateLimiterUnion } from "rate-limiter-flexible";
import { limit, serveOrders } from "../serve-orders.js";

const { redis } = await openRedis({
  urls: [process.env.REDIS_URL ?? ""],
  isCluster: false,
  decisionTimeoutMs: 100,
});
const union = new RateLimiterUnion(
  new RateLimiterRedis({ storeClient: redis, keyPrefix: "rlf:minute", points: limit, duration: 60 }),
  new RateLimiterRedis({ storeClient: redis, keyPrefix: "rlf:day", points: limit, duration: 86_400 }),
);

// It rejects where it does not admit.
serveOrders(async (account) => void (await union.consume(account)));
