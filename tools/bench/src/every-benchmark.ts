import { benchmarks } from "./benchmarks.js";
import type { Comparable } from "./comparison.js";
import { memory } from "./memory/memory.js";
import { hotAccountQuota, quota } from "./quota/quota.js";
import { serverComparison } from "./server-comparison.js";
import { start } from "./start.js";

/** Every benchmark, in the order of a run. */
export const everyBenchmark: readonly Comparable[] = [
  ...benchmarks.map(serverComparison),
  memory,
  quota,
  hotAccountQuota,
  start,
];
