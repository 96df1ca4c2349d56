#!/usr/bin/env node
// The petstore command in a clone of the repository. dist does not exist before the first build.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const main = new URL("../dist/main.js", import.meta.url);
/** `npm start` reads it too. It may name the folder of its data. */
const environmentFile = fileURLToPath(new URL("../../../.env", import.meta.url));
if (existsSync(environmentFile)) process.loadEnvFile(environmentFile);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write("petstore is not built yet: run `npm run build` first.\n");
  process.exitCode = 1;
}
