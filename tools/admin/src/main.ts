#!/usr/bin/env node
import { randomBytes } from "node:crypto";
import { dataDirectory, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { runPetstore } from "./program.js";

process.exitCode = await runPetstore(process.argv.slice(2), {
  environment: process.env,
  standaloneUrl: () => embeddedPostgresUrl(dataDirectory(process.env.PETSTORE_DIR)),
  now: Date.now,
  randomBytes,
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});
