import { runConformance } from "./conformance.js";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());

process.exitCode = await runConformance(process.argv.slice(2), {
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
  signal: stopped.signal,
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  return 1;
});
// A section that was stopped may still be waiting for its next step.
if (stopped.signal.aborted) process.exit();
