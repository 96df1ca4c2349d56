import { fileURLToPath } from "node:url";
import { runCapacity } from "./command.js";

const { exitCode, text } = await runCapacity(
  process.argv.slice(2),
  fileURLToPath(new URL("../../results/", import.meta.url)),
);
(exitCode === 0 ? process.stdout : process.stderr).write(`${text}\n`);
process.exitCode = exitCode;
