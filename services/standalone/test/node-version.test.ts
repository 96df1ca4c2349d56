// `npm start` with other versions of Node.js, as far as the install, which fails because there is no `npx`.
import { spawnSync } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../", import.meta.url));

it.each(["18.20.8", "20.18.3"])("`npm start` refuses Node.js %s in one line, before the install", async (version) => {
  expect(await start(version)).toBe(`The pet store needs Node.js 20.19 or later. This is ${version}.\n`);
});

it.each(["20.19.0", "26.0.0"])("`npm start` installs with Node.js %s", async (version) => {
  expect(await start(version)).toMatch(/^Installing \.\.\.\n/);
});

/** Runs `start.mjs` in an empty checkout, and returns its output. */
async function start(version: string): Promise<string> {
  await using directory = await openTemporaryDirectory();
  for (const folder of ["packages", "services/standalone", "tools/admin"]) {
    await mkdir(join(directory.path, folder), { recursive: true });
  }
  for (const file of ["package.json", "services/standalone/start.mjs", "services/standalone/build-state.mjs"]) {
    await copyFile(join(repository, file), join(directory.path, file));
  }
  const versions = JSON.stringify({ ...process.versions, node: version });
  const pretend = `data:text/javascript,Object.defineProperty(process, "versions", { value: ${versions} })`;
  const args = ["--import", pretend, join(directory.path, "services/standalone/start.mjs")];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: {} });
  expect(status).toBe(1);
  return `${stdout}${stderr}`;
}
