#!/usr/bin/env node
import { dataDirectory, embeddedDatabaseUrl } from "@petstore/embedded-database";
import { runPetstore } from "./program.js";

process.exitCode = await runPetstore(process.argv.slice(2), {
  databaseUrl: async () =>
    process.env.DATABASE_URL || (await embeddedDatabaseUrl(dataDirectory(process.env.PETSTORE_DIR))),
  print: (text) => process.stdout.write(`${text}\n`),
  complain: (text) => process.stderr.write(`${text}\n`),
});
