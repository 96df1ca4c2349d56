// Tells whether the last install and build are still current, so that `npm start` can skip pnpm and turbo, which need four
// seconds to find that out. It compares the size and the times of every file that they read or write with a record of
// the last build. Any doubt, such as a new branch or a build by hand, counts as a change.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const rootInputs = [
  ".npmrc",
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "tsconfig.base.json",
  "turbo.json",
];
const rootOutputs = ["node_modules/.modules.yaml", "node_modules/.pnpm/lock.yaml"];
const packageFolders = ["packages", "services", "tools/admin"];
/** Neither built nor run by the store. */
const ignored = new Set([".turbo", "test", "test-results.json"]);

/** Two digests, of what install and build read and of what they write. Take the one of `inputs` before the build. */
export function readBuildState(root) {
  const inputs = createHash("sha256").update(`${process.platform} ${process.arch} ${process.version}\n`);
  const outputs = createHash("sha256");
  for (const path of rootInputs) addFile(inputs, join(root, path));
  for (const path of rootOutputs) addFile(outputs, join(root, path));
  for (const folder of packageFolders) addFolder(join(root, folder), inputs, outputs);
  return { inputs: inputs.digest("hex"), outputs: outputs.digest("hex") };
}

export function isBuilt(root) {
  try {
    return JSON.stringify(readBuildState(root)) === readFileSync(recordFile(root), "utf8");
  } catch {
    // No build is recorded, or another program is changing the files: build.
    return false;
  }
}

export function recordState(root, state) {
  mkdirSync(dirname(recordFile(root)), { recursive: true });
  writeFileSync(recordFile(root), JSON.stringify(state));
}

function recordFile(root) {
  return join(root, "node_modules", ".cache", "petstore-start.json");
}

function addFolder(folder, inputs, outputs) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (ignored.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) addFile(inputs, path);
    // The modules themselves belong to pnpm: a look at the folder shows whether one was added or removed.
    else if (entry.name === "node_modules") addFile(outputs, path);
    else addFolder(path, entry.name === "dist" ? outputs : inputs, outputs);
  }
}

function addFile(digest, path) {
  const file = statSync(path, { throwIfNoEntry: false });
  // No program can set the ctime, so a replaced file is noticed even if its size and mtime are the same.
  digest.update(`${path} ${file?.size} ${file?.mtimeMs} ${file?.ctimeMs}\n`);
}
