import type { LoadOrder } from "../load-generator.js";
import { makeLoad } from "./load.js";

process.on("message", async (order: LoadOrder) => {
  process.send?.(await makeLoad(order));
});
process.once("disconnect", () => process.exit());
