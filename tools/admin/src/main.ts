#!/usr/bin/env node
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { dataDirectory, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { runPetstore } from "./program.js";

// The reader of a pipe, such as head, may stop reading. The command then finishes its work without an error. Any other
// failure, such as a full disk, loses the output of a command that may have changed something.
let isReported = false;
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE" || isReported) return;
    isReported = true;
    process.exitCode = 1;
    process.stderr.write(`The output of the command cannot be written: ${message}\n`);
  });
}

const exitCode = await runPetstore(process.argv.slice(2), {
  environment: process.env,
  standaloneUrl: () => embeddedPostgresUrl(dataDirectory(process.env.PETSTORE_DIR)),
  now: Date.now,
  randomBytes,
  readInput: () => text(process.stdin),
  print: (output) => process.stdout.write(`${output}\n`),
  complain: (output) => process.stderr.write(`${output}\n`),
});
process.exitCode ??= exitCode;
