// The engine of one process.
import { createLocalQuota } from "@petstore/core";
import { limit, serveOrders } from "../serve-orders.js";

const quota = createLocalQuota({ now: Date.now });
const limits = { perMinute: limit, perDay: limit };

serveOrders(
  async (account, key) => {
    const { outcome } = await quota.reserve({ account, key, limits, cost: 1 });
    if (outcome !== "admitted") throw new Error(outcome);
  },
  { timedEvery: 64 },
);
