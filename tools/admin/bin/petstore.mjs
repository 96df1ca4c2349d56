#!/usr/bin/env node
// The command of `npx petstore`. pnpm links it at installation, when dist does not exist yet.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write("petstore is not built yet: run `npm run build` first.\n");
  process.exitCode = 1;
}
