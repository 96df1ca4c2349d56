import { fileURLToPath } from "node:url";
import { runBench } from "./bench.js";
import { benchmarks } from "./benchmarks.js";
import { readCommit } from "./results.js";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());

const directory = fileURLToPath(new URL("../", import.meta.url));

process.exitCode = await runBench(process.argv.slice(2), benchmarks, {
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
  signal: stopped.signal,
  resultsDirectory: `${directory}results`,
  commit: () => readCommit(directory),
  now: Date.now,
});
