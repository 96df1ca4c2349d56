import type { TrafficOrder } from "../traffic-generator.js";
import { makeTraffic } from "./traffic.js";

process.on("message", async (order: TrafficOrder) => {
  process.send?.(await makeTraffic(order));
});
process.once("disconnect", () => process.exit());
