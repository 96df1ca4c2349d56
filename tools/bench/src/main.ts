import { runProject } from "@petstore/harness/projects";
import { createBenchReporter } from "./bench-reporter.js";

const args = process.argv.slice(2);
const project = {
  about: `Measures our services and their peers in interleaved rounds, each in a process of its own, over one private PostgreSQL and
Redis, and compares the ratios with their targets. The CPU time of the server process per request is the figure to trust:
ratios survive a noisy machine, and absolute times do not. All benchmarks take about 40 minutes. A run without options
from a clean commit is kept in tools/bench/results.`,
  programs: ["redis-server"],
  hasOneFile: true,
  reporter: createBenchReporter({ isComplete: args.length === 0 }),
  options: {
    rounds: { about: "how often each server is measured (mostly 6)", pattern: /^[1-9]\d{0,4}$/ },
    seconds: {
      about: "how long, each time, when all connections are open (3)",
      pattern: /^(?=.*[1-9])\d{1,5}(\.\d+)?$/,
      default: "3",
    },
  },
} as const;

await runProject("bench", project, args);
