import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runBench } from "./bench.js";
import { benchmarks } from "./benchmarks.js";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());

const directory = fileURLToPath(new URL("../", import.meta.url));
const run = promisify(execFile);

process.exitCode = await runBench(process.argv.slice(2), benchmarks, {
  print: (text) => process.stdout.write(text),
  progress: (line) => process.stderr.write(`${line}\n`),
  signal: stopped.signal,
  resultsDirectory: `${directory}results`,
  commit: readCommit,
  now: Date.now,
});

/** The short name of the commit; undefined outside a repository, and when anything but the results differs from it. */
async function readCommit(): Promise<string | undefined> {
  const git = async (...words: string[]) => (await run("git", ["-C", directory, ...words])).stdout.trim();
  try {
    const changes = await git("status", "--porcelain", "--", ":/", ":(top,exclude)tools/bench/results");
    return changes === "" ? await git("rev-parse", "--short=7", "HEAD") : undefined;
  } catch {
    // An unpacked archive, or a machine without Git.
    return undefined;
  }
}
