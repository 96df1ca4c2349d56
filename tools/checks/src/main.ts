import { readCommandLine } from "./command-line.js";
import { run } from "./run.js";

const command = readCommandLine(process.argv.slice(2));
switch (command.kind) {
  case "help":
    process.stdout.write(`${command.text}\n`);
    break;
  case "wrong":
    process.stderr.write(`${command.reason}\n`);
    process.exitCode = 2;
    break;
  case "run":
  case "list":
    await run(command);
}
