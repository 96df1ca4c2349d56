// What `npm start` runs on a machine with only Node: install, build, serve. The service then runs in this very process,
// so that a signal sent to it reaches the service and no wrapper.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { packageManager } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

// Nobody may read what is printed here: that ends nothing.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
// The first install takes a while: pnpm shows how far it is.
run("Installing", ["install", "--frozen-lockfile"], "inherit");
run(
  "Building",
  ["exec", "turbo", "run", "build", "--filter=@petstore/standalone...", "--filter=@petstore/admin"],
  "pipe",
);
stopWithNpm();
await import("./dist/main.js");

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

/** A signal sent to npm alone ends npm and the shell between, and reaches nobody below them. */
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
