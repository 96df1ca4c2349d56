import { benchmarks } from "./benchmarks.js";
import type { Comparable } from "./comparison.js";
import { memory } from "./memory/memory.js";
import { quota } from "./quota/quota.js";
import { serverComparison } from "./server-comparison.js";

/** What the command line knows by name, in the order of a run of all of it. */
export const everyBenchmark: readonly Comparable[] = [...benchmarks.map(serverComparison), memory, quota];
