// `npm run dev`: serves the store from a build that follows the sources. A saved change is compiled and served in about two
// seconds. A change that does not compile is reported, and the store continues to serve the last good build.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { watch } from "chokidar";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Neither compiled nor served by the store. */
const ignored = /[\\/](\.turbo|dist|node_modules|test|test-results\.json|[^\\/]+\.test\.ts)$/;
/** An editor may write a file in several steps. */
const settleMs = 20;

let isChanged = false;
let isStopping = false;
let wake = () => {};
let store = startStore();

const watcher = watch([`${root}packages`, `${root}services`], { ignored, ignoreInitial: true });
watcher.once("ready", () => process.stdout.write("Watching for file changes.\n"));
watcher.on("all", () => {
  isChanged = true;
  wake();
});
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    isStopping = true;
    wake();
  });
}

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
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  const projects = ["services/standalone", "packages/pages/browser"];
  const [exitCode] = await once(startNode([compiler, "--build", ...projects]), "exit");
  process.stdout.write(
    exitCode === 0 ? "Compiled. The store starts again.\n" : "The store continues to serve the last good build.\n",
  );
  return exitCode === 0;
}

function startStore() {
  return startNode(["--disallow-code-generation-from-strings", "services/standalone/dist/main.js"]);
}

function startNode(options) {
  return spawn(process.execPath, options, { cwd: root, stdio: "inherit" });
}

/** The store closes its PostgreSQL at SIGTERM. Ctrl-C reaches it without us. */
async function end(program) {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const exit = once(program, "exit");
  program.kill("SIGTERM");
  await exit;
}
