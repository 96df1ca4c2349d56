#!/usr/bin/env node
import { randomBytes } from "node:crypto";
import { dataDirectory, embeddedDatabaseUrl } from "@petstore/embedded-database";
import { runPetstore } from "./program.js";

process.exitCode = await runPetstore(process.argv.slice(2), {
  environment: process.env,
  standaloneUrl: () => embeddedDatabaseUrl(dataDirectory(process.env.PETSTORE_DIR)),
  now: Date.now,
  randomBytes,
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});
