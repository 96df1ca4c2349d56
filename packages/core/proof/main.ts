import { runProof } from "./proof.js";

process.exitCode = await runProof(process.argv.slice(2), {
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
});
