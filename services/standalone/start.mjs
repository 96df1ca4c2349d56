// `npm start` on a machine with only Node: installs and builds if anything changed, then serves. The service runs in this
// process, so that a signal sent to it reaches the service and no wrapper.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isBuilt, readBuildState, recordState } from "./build-state.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { engines, packageManager } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

// Output that nobody reads ends nothing.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
refuseOldNode();
if (!isBuilt(root)) build();
stopWithNpm();
await import("./dist/main.js");

/** Before the install, which takes a while. This file and its imports must load in Node.js 18. */
function refuseOldNode() {
  const oldest = engines.node.replace(">=", "");
  if (process.versions.node.localeCompare(oldest, "en", { numeric: true }) >= 0) return;
  process.stderr.write(`The pet store needs Node.js ${oldest} or later. This is ${process.versions.node}.\n`);
  process.exit(1);
}

function build() {
  // Read before the build: if a source changes during the build, the next start builds again.
  const { inputs } = readBuildState(root);
  // The first install takes a while: pnpm shows how far it is.
  run("Installing", ["install", "--frozen-lockfile"], "inherit");
  const targets = ["--filter=@petstore/standalone...", "--filter=@petstore/admin"];
  run("Building", ["exec", "turbo", "run", "build", ...targets], "pipe");
  try {
    recordState(root, { inputs, outputs: readBuildState(root).outputs });
  } catch (error) {
    process.stderr.write(`The next start builds again: ${error.message}\n`);
  }
}

/** With `pipe`, the step's output is printed only when the step fails. */
function run(step, pnpmArguments, output) {
  process.stdout.write(`${step} ...\n`);
  const { status, error, stdout, stderr } = spawnSync("npx", ["--yes", packageManager, ...pnpmArguments], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
    shell: process.platform === "win32",
    stdio: ["ignore", output, output],
  });
  if (status === 0) return;
  process.stderr.write(`${stdout ?? ""}${stderr ?? ""}${error?.message ?? ""}\n${step} failed.\n`);
  process.exit(1);
}

/** SIGTERM sent to npm alone ends npm and its shell, and does not reach this process. */
function stopWithNpm() {
  if (process.env.npm_lifecycle_event !== "start") return;
  const shell = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, 500);
  watch.unref();
}
