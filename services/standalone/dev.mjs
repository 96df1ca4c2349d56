// `npm run dev` compiles and serves a saved change in about three seconds. If a change does not compile, the store continues
// to serve the last good build.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, utimesSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { readOptions, setEnvironment } from "./settings.mjs";
import { stopWithNpm } from "./stop-with-npm.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Not part of the store. Editors write files whose names begin with a dot or end in a tilde. */
const ignored = /[\\/](\.[^\\/]*|[^\\/]*~|dist|node_modules|test|test-results\.json|[^\\/]+\.test\.ts)$/;
/** An editor may write a file in several steps. */
const settleMs = 20;

const options = readOptions("npm run dev");
stopWithNpm();
await build();
setEnvironment(options);
// Only now is it certainly installed.
const { watch } = await import("chokidar");

/** The files that have changed since the last build began. */
const changed = new Set();
/** The files that have changed since the last build that succeeded began. */
const unbuilt = new Set();
let isStopping = false;
let wake = () => {};
let store = startStore();
// Stops the store also after an error in this program.
process.once("exit", () => store.kill("SIGTERM"));

const watcher = watch([`${root}packages`, `${root}services`], { ignored, ignoreInitial: true });
watcher.once("ready", () => process.stdout.write("Watching for file changes.\n"));
watcher.on("all", (_event, path) => {
  changed.add(path);
  wake();
});
for (const signal of ["SIGINT", "SIGTERM"]) {
  // A later signal must not end this program before its children: Ctrl-C in npm may cause two.
  process.on(signal, () => {
    isStopping = true;
    wake();
  });
}

while (!isStopping) {
  if (changed.size === 0) await new Promise((resolve) => (wake = resolve));
  await delay(settleMs);
  for (const path of changed) unbuilt.add(path);
  changed.clear();
  outdateBuildRecords(unbuilt);
  const isCompiled = !isStopping && (await compile([...unbuilt]));
  if (isStopping) break;
  if (isCompiled) {
    unbuilt.clear();
    process.stdout.write("Compiled. The store starts again.\n");
    await end(store);
    if (!isStopping) store = startStore();
  } else {
    process.stdout.write("The store continues to serve the last good build.\n");
  }
}
await end(store);
process.exit();

/**
 * A change that was saved during a build is older than the record of the build, so the compiler would miss it. If the record
 * has the time 0, the compiler compares the contents of the sources.
 */
function outdateBuildRecords(paths) {
  for (const path of paths) {
    for (const name of [".tsbuildinfo", ".tsbuildinfo-browser"]) {
      const record = `${root}${packageOf(path)}/dist/${name}`;
      if (existsSync(record)) utimesSync(record, 0, 0);
    }
  }
}

/** Compiles the sources, and builds the pages, as far as the changes concern them. */
async function compile(paths) {
  // The compiler of TypeScript 7 finds a change by polling, which takes seconds, so it is started for each change.
  const compiler = `${root}node_modules/typescript/bin/tsc`;
  const projects = ["services/standalone", "packages/pages", "packages/pages/browser"];
  const areGuides = paths.every((path) => path.endsWith(".md"));
  if (!areGuides && !(await succeeds([compiler, "--build", ...projects]))) return false;
  const services = ["rest", "graphql"].filter((service) => paths.some((path) => isSourceOfPages(path, service)));
  const results = await Promise.all(services.map((service) => succeeds([`services/${service}/build-files.mjs`])));
  return results.every(Boolean);
}

/** The pages contain the error codes and the plans of core. The code of a service is not in its pages. */
function isSourceOfPages(path, service) {
  const name = packageOf(path);
  if (name === `services/${service}`) return !path.startsWith(join(root, name, "src"));
  return name === "packages/pages" || name === "packages/core";
}

/** The folder of the package that a file belongs to, such as `packages/core`. */
function packageOf(path) {
  return relative(root, path).split(sep).slice(0, 2).join("/");
}

async function succeeds(options) {
  const [exitCode] = await once(startNode(options), "exit");
  return exitCode === 0;
}

function startStore() {
  return startNode(["--disallow-code-generation-from-strings", "services/standalone/dist/main.js"]);
}

function startNode(options) {
  return spawn(process.execPath, options, { cwd: root, stdio: "inherit" });
}

/** `kill` returns false if the store has ended already, for example after Ctrl-C. */
async function end(program) {
  if (program.kill("SIGTERM")) await once(program, "exit");
}
