// `node run.mjs turbo run build` installs what is missing, and runs a program of node_modules. `node run.mjs tool` runs a tool
// of a package, with options. Both need only Node.js and npm.
// This file and its imports must load in Node.js 18, so that an old version is refused in one sentence.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL(".", import.meta.url));
const modules = join(root, "node_modules");
const { packageManager, engines } = readJson(join(root, "package.json"));
/** A step that takes longer is worth a line. */
const noticeMs = 1_000;

refuseOldNode();
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [command, ...args] = process.argv.slice(2);
  await install();
  const isTool = command === "tool";
  process.exitCode = await (isTool ? runTool(...args) : run(command, args, { stdio: "inherit" }));
}

/**
 * Runs a task of a package with options. Its packages are built by a call of their own: to turbo, the options of a call are part
 * of all its tasks, so with new options it would build everything again.
 */
async function runTool(name, task, ...options) {
  await runStep("Building", "turbo", ["run", "build", "--output-logs=errors-only", `--filter=${name}...`]);
  const args = ["run", task, "--only", `--filter=${name}`, "--log-prefix=none", "--", ...options];
  return run("turbo", args, { stdio: "inherit" });
}

/** Installs the packages that these projects of the workspace need, or all packages. */
export async function install(projects = []) {
  const isWhole = projects.length === 0;
  // A project that is part of no other installation.
  const isFirst = !existsSync(join(root, isWhole ? "tools/checks" : ".", "node_modules"));
  if (isFirst) {
    const size = isWhole ? "all packages (1,060 packages, 840 MB)" : "what the store needs (550 packages, 600 MB)";
    process.stderr.write(`Installing ${size}. This takes one to four minutes.\n`);
  }
  const [command, ...args] = await pnpm();
  const filters = projects.map((name) => `--filter=${name}`);
  await runStep("Installing", command, [...args, "install", ...filters], { isShown: isFirst });
}

/** Runs a program whose output matters only if it fails, or if it is shown. If it fails, this process ends. */
export async function runStep(name, command, args, { isShown = false, cwd = root } = {}) {
  const printed = [];
  const notice = setTimeout(() => process.stderr.write(`${name} ...\n`), noticeMs);
  if (isShown) clearTimeout(notice);
  const exitCode = await run(command, args, {
    cwd,
    // The output of this process is that of its program alone.
    stdio: isShown ? ["ignore", 2, 2] : ["ignore", "pipe", "pipe"],
    onOutput: (chunk) => printed.push(chunk),
  });
  clearTimeout(notice);
  if (exitCode === 0) return;
  process.stderr.write(`${Buffer.concat(printed)}${name} failed.\n`);
  process.exit(1);
}

/** Runs a program of node_modules or of PATH, and returns its exit code. */
function run(command, args, { stdio, onOutput, cwd = root }) {
  const program = spawn(command, args, {
    cwd,
    env: {
      ...process.env,
      PATH: `${join(modules, ".bin")}${delimiter}${process.env.PATH}`,
      TURBO_TELEMETRY_DISABLED: "1",
      // The results of tests are those of one version of Node.js (turbo.json).
      NODE_VERSION: process.version,
    },
    shell: process.platform === "win32",
    stdio,
  });
  for (const stream of [program.stdout, program.stderr]) stream?.on("data", onOutput);
  // The program ends first. Ctrl+C reaches it without this process.
  const forward = () => program.kill("SIGTERM");
  const ignore = () => {};
  process.on("SIGTERM", forward).on("SIGINT", ignore);
  return new Promise((resolve, reject) => {
    program.once("error", reject);
    program.once("close", (code, signal) => {
      process.off("SIGTERM", forward).off("SIGINT", ignore);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/**
 * The pnpm of package.json: the installed one, which pnpm-lock.yaml verifies. Before there is one, npm installs the one of
 * .package-manager, and verifies it. Its lockfile has the hashes for Linux with glibc. On other systems, npx downloads one.
 */
async function pnpm() {
  const manifest = join(modules, "pnpm/package.json");
  if (existsSync(manifest) && packageManager === `pnpm@${readJson(manifest).version}`) return ["pnpm"];
  const folder = join(root, ".package-manager");
  if (!existsSync(folder) || !isLinuxWithGlibc()) return ["npx", "--yes", packageManager];
  await runStep("Installing pnpm", "npm", ["ci"], { cwd: folder });
  // npm leaves an optional package with another hash out.
  if (!existsSync(join(folder, "node_modules/@pnpm", `exe.linux-${process.arch}`, "pnpm"))) {
    process.stderr.write("npm did not install the pnpm whose hash .package-manager/package-lock.json has.\n");
    process.exit(1);
  }
  return [join(folder, "pnpm")];
}

function isLinuxWithGlibc() {
  const isKnown = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
  return isKnown && process.report.getReport().header.glibcVersionRuntime !== undefined;
}

function refuseOldNode() {
  const version = process.versions.node;
  const majorOf = (numbers) => numbers.split(".")[0];
  // Each range is `^` or `>=`, and the oldest version.
  const ranges = engines.node.split(" || ").map((range) => {
    const [, operator, oldest] = /^(\^|>=)(.+)$/.exec(range);
    return { isOneMajor: operator === "^", oldest };
  });
  const isSupported = ranges.some(
    ({ isOneMajor, oldest }) =>
      version.localeCompare(oldest, "en", { numeric: true }) >= 0 &&
      !(isOneMajor && majorOf(version) !== majorOf(oldest)),
  );
  if (isSupported) return;
  const texts = ranges.map(({ isOneMajor, oldest }) =>
    isOneMajor ? `${majorOf(oldest)} from ${oldest}` : `${oldest} or later`,
  );
  process.stderr.write(`The pet store needs Node.js ${texts.join(", or ")}. This is ${version}.\n`);
  process.exit(1);
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
