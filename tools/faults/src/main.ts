import { runFaults } from "./faults.js";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());

process.exitCode = await runFaults(process.argv.slice(2), {
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
  signal: stopped.signal,
});
// The row that was stopped may still be waiting for its next step.
if (stopped.signal.aborted) process.exit();
