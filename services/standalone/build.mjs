// Installs and builds what the store needs, if anything changed since the last time.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const rootInputs = ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml", "tsconfig.base.json", "turbo.json"];
const rootOutputs = ["node_modules/.modules.yaml", "node_modules/.pnpm/lock.yaml"];
const packageFolders = ["packages", "services", "tools/admin"];
/** Neither the build nor the store reads them. */
const ignored = new Set([".turbo", "test", "test-results.json"]);

const root = fileURLToPath(new URL("../../", import.meta.url));
const recordFile = join(root, "node_modules/.cache/petstore-start.json");
const { packageManager } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

export function buildIfChanged() {
  if (!isBuilt()) build();
}

function isBuilt() {
  try {
    return JSON.stringify(readBuildState()) === readFileSync(recordFile, "utf8");
  } catch {
    // No build is recorded, or another program is changing the files: build.
    return false;
  }
}

function build() {
  // Read before the build: if a source changes during the build, the next start builds again.
  const { inputs } = readBuildState();
  // The first install takes a while, so pnpm shows its progress.
  run("Installing", ["install", "--frozen-lockfile"], "inherit");
  const targets = ["--filter=@petstore/standalone...", "--filter=@petstore/admin"];
  run("Building", ["exec", "turbo", "run", "build", ...targets], "pipe");
  try {
    const { outputs } = readBuildState();
    mkdirSync(dirname(recordFile), { recursive: true });
    writeFileSync(recordFile, JSON.stringify({ inputs, outputs }));
  } catch (error) {
    process.stderr.write(`The next start builds again: ${error.message}\n`);
  }
}

/**
 * Returns a digest of the files that install and build read, and one of the files that they write. pnpm and turbo would need
 * four seconds to find that nothing changed. A new branch or a build by hand counts as a change.
 */
function readBuildState() {
  const inputs = createHash("sha256").update(`${process.platform} ${process.arch} ${process.version}\n`);
  const outputs = createHash("sha256");
  for (const path of rootInputs) addFile(inputs, join(root, path));
  for (const path of rootOutputs) addFile(outputs, join(root, path));
  for (const folder of packageFolders) addFolder(join(root, folder), inputs, outputs);
  return { inputs: inputs.digest("hex"), outputs: outputs.digest("hex") };
}

function addFolder(folder, inputs, outputs) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (ignored.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) addFile(inputs, path);
    // The folder itself changes if pnpm adds or removes a module.
    else if (entry.name === "node_modules") addFile(outputs, path);
    else addFolder(path, entry.name === "dist" ? outputs : inputs, outputs);
  }
}

function addFile(digest, path) {
  const file = statSync(path, { throwIfNoEntry: false });
  // No program can set the ctime: it shows a replaced file of the same size and mtime.
  digest.update(`${path} ${file?.size} ${file?.mtimeMs} ${file?.ctimeMs}\n`);
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
