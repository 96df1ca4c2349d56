#!/usr/bin/env node
// The petstore command in a clone of the repository. dist does not exist before the first build.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write("petstore is not built yet: run `npm run build` first.\n");
  process.exitCode = 1;
}
