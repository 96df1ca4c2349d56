// `npm run dev`: serves the store from a build that follows the sources. A saved change is compiled and served in about two
// seconds. A change that does not compile is reported, and the store goes on serving the last good build.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);
const folder = fileURLToPath(new URL(".", import.meta.url));
const compiler = fileURLToPath(new URL("node_modules/typescript/bin/tsc", root));
/** An editor may write a file in several steps. */
const settleMs = 20;

let isChanged = false;
let isStopping = false;
let wake = () => {};
let store = startStore();

for (const source of sourceFolders()) watch(source, follow);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);
process.stdout.write("Watching for file changes.\n");

while (!isStopping) {
  if (!isChanged) await new Promise((resolve) => (wake = resolve));
  await delay(settleMs);
  isChanged = false;
  if (isStopping || !(await compile()) || isStopping) continue;
  await end(store);
  if (!isStopping) store = startStore();
}
await end(store);
process.exit();

/** The compiler of TypeScript 7 finds a change by polling, which takes seconds, so it is started for each change. */
async function compile() {
  const [exitCode] = await once(spawn(process.execPath, [compiler, "--build", folder], { stdio: "inherit" }), "exit");
  process.stdout.write(
    exitCode === 0 ? "Compiled. The store starts again.\n" : "The store goes on serving the last good build.\n",
  );
  return exitCode === 0;
}

function startStore() {
  const options = ["--disallow-code-generation-from-strings", `${folder}dist/main.js`];
  return spawn(process.execPath, options, { stdio: "inherit" });
}

/** The store closes its PostgreSQL at SIGTERM. Ctrl-C reaches it without us. */
async function end(program) {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exit = once(program, "exit");
  program.kill("SIGTERM");
  await exit;
}

/** Each folder by itself: on Linux, a recursive watch of Node.js loses a file that an editor has replaced. */
function sourceFolders() {
  const parents = ["packages", "services"].map((parent) => fileURLToPath(new URL(parent, root)));
  const sources = parents.flatMap((parent) =>
    readdirSync(parent).flatMap((name) => ["src", "browser", "docs"].map((source) => join(parent, name, source))),
  );
  return sources.filter((source) => existsSync(source)).flatMap((source) => [source, ...foldersIn(source)]);
}

function foldersIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

function follow() {
  isChanged = true;
  wake();
}

function stop() {
  isStopping = true;
  wake();
}
