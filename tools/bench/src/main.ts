import { fileURLToPath } from "node:url";
import { runBench } from "./bench.js";
import { readCommit } from "./commit.js";
import { everyBenchmark } from "./every-benchmark.js";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());

const directory = fileURLToPath(new URL("../", import.meta.url));

process.exitCode = await runBench(process.argv.slice(2), everyBenchmark, {
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  signal: stopped.signal,
  resultsDirectory: `${directory}results`,
  commit: () => readCommit(directory),
  now: Date.now,
});
