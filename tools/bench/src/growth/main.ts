import { runGrowth } from "./growth.js";

const stopped = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopped.abort());

process.exitCode = await runGrowth(process.argv.slice(2), {
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
  signal: stopped.signal,
});
