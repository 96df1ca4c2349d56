import { parseArgs } from "node:util";
import { openStage } from "../stage.js";
import { createPetRequest, executedFiles, isWithin, listRequest, sizeOf } from "./request-path.js";

const helpText = `Usage: npm run request-path

Starts the REST and the GraphQL service over a private PostgreSQL and a private Redis, and warms them up. Then prints
which source files of packages/ and services/ execute code during one request, and the functions that it calls: a list
over REST, and createPet over GraphQL. Coverage finds them. Code that runs only at start-up, or only in timers, does not count.
The exit code is 1 when a request needs more files or lines than its limit. Needs redis-server in PATH.

Options:
  --help  show this`;

try {
  const { values } = parseArgs({ options: { help: { type: "boolean", short: "h", default: false } } });
  if (values.help) print(helpText);
  else await printRequestPaths();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

async function printRequestPaths(): Promise<void> {
  await using stage = await openStage();
  for (const measured of [listRequest, createPetRequest]) {
    const files = await executedFiles(measured, stage);
    const size = sizeOf(files);
    const { limit } = measured;
    const isOk = isWithin(size, limit);
    if (!isOk) process.exitCode = 1;
    print(`${measured.title}\n`);
    print(`${"lines".padStart(7)}  file: functions with a name`);
    for (const { path, lines, functions } of files) {
      print(`${format(lines).padStart(7)}  ${path}: ${functions.join(", ")}`);
    }
    print(`${format(size.lines).padStart(7)}  in ${size.files} files`);
    print(`${isOk ? "Within" : "Beyond"} the limit of ${format(limit.lines)} lines in ${limit.files} files.\n`);
  }
}

function format(value: number): string {
  return value.toLocaleString("en-US");
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
