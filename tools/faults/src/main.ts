import { runFaults } from "./faults.js";

process.exitCode = await runFaults(process.argv.slice(2), {
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});
