// `npm run release`: turns the changesets into a release. It publishes nothing: the last lines say what to publish.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import getReleasePlan from "@changesets/get-release-plan";

const usage = `Usage: npm run release [-- --dry-run]

Makes a release from the files in .changeset, on a clean working tree:
  1. sets the version of every package, of the root and of the Kubernetes images
  2. moves the texts of the changesets to CHANGELOG.md
  3. writes openapi.released.yaml and schema.released.graphql: what later versions must not break
  4. packs the client (petstore-client-VERSION.tgz) and writes the bill of materials (sbom.cdx.json)
  5. commits this, and tags the commit vVERSION

Run it after all tests have passed. It pushes and publishes nothing.

Options:
  --dry-run  prints the version and its changelog, and changes nothing
  --help     prints this text
`;
const headings = { major: "Breaking changes", minor: "New", patch: "Fixed" };

process.chdir(fileURLToPath(new URL("../", import.meta.url)));
const { version: oldVersion } = JSON.parse(readFileSync("package.json", "utf8"));
const options = readOptions();
if (options.help) {
  process.stdout.write(usage);
  process.exit();
}
const { changesets, releases } = await getReleasePlan(process.cwd());
const version = releases[0]?.newVersion;
if (version === undefined) fail("There is nothing to release: no file in .changeset describes a change.");
const changes = describeChanges();
if (options["dry-run"]) {
  process.stdout.write(`The next version is ${version}. Nothing is changed.\n\n${changes}`);
  process.exit();
}
checkRepository();

run("changeset", "version");
edit("package.json", (text) => text.replace(`"version": "${oldVersion}"`, `"version": "${version}"`));
edit("tools/deploy/kubernetes/overlay/kustomization.yaml", (text) =>
  text.replaceAll(`newTag: ${oldVersion}`, `newTag: ${version}`),
);
edit("CHANGELOG.md", (text) => text.replace("\n## ", () => `\n${changes}\n## `));
run("pnpm", "--recursive", "run", "write-released");
// An older build may have left files that no source has.
rmSync("packages/client/dist", { recursive: true, force: true });
run("pnpm", "--filter", "@petstore/client", "run", "build");
run("pnpm", "--filter", "@petstore/client", "pack", "--pack-destination", process.cwd());
run("npm", "run", "sbom");
run("git", "commit", "--quiet", "--all", "--message", `Release ${version}`);
run("git", "tag", "--annotate", `v${version}`, "--message", `Version ${version}`);
process.stdout.write(`
Version ${version} is committed and tagged in this clone. To publish it:
  git push --follow-tags
  create a release of the tag v${version}, with petstore-client-${version}.tgz and sbom.cdx.json
The workflow "Publish" of the tag then publishes the images and the client: see CONTRIBUTING.md.
`);

function readOptions() {
  try {
    return parseArgs({ options: { "dry-run": { type: "boolean" }, help: { type: "boolean" } } }).values;
  } catch (error) {
    fail(`${error.message}\n\n${usage}`);
  }
}

/** The section of the changelog. A change is listed under the largest effect that it has on a package. */
function describeChanges() {
  const sections = Object.entries(headings).map(([type, heading]) => {
    const items = changesets
      .filter((changeset) => effectOf(changeset) === type)
      .map(({ summary }) => `* ${summary.trim().replaceAll("\n", "\n  ")}\n`);
    return items.length === 0 ? "" : `\n### ${heading}\n\n${items.join("")}`;
  });
  return `## ${version} (${new Date().toISOString().slice(0, 10)})\n${sections.join("")}`;
}

function effectOf(changeset) {
  return Object.keys(headings).find((type) => changeset.releases.some((release) => release.type === type));
}

function checkRepository() {
  const changed = output("git", "status", "--porcelain");
  if (changed !== "") fail(`The working tree has changes. Commit or stash them first:\n${changed}`);
  if (output("git", "tag", "--list", `v${version}`) !== "") fail(`The tag v${version} exists already.`);
  const line = version.split(".", 2).join(".");
  if (!readFileSync("SECURITY.md", "utf8").includes(`\n| ${line} | yes |`)) {
    fail(`SECURITY.md does not list version ${line} as supported. Change its table and commit it first.`);
  }
}

function edit(path, change) {
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) {
    fail(`${command} ${args.join(" ")} failed. Nothing is tagged. To undo the changes of files: git restore .`);
  }
}

function output(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) fail(`${command} ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
