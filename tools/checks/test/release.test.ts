// `npm run release` in a copy of the repository.
import { spawnSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory, repository } from "@petstore/harness/processes";
import { beforeAll, expect, it } from "vitest";

const original = fileURLToPath(repository);
/** For the install in the copy, and for the release, on a busy machine. */
const timeoutMs = 5 * 60_000;
const { path: copy } = await shared(openTemporaryDirectory());
const read = (path: string) => readFile(join(copy, path), "utf8");
const write = (path: string, content: string) => writeFile(join(copy, path), content);

beforeAll(async () => {
  const files = run("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"], original);
  for (const file of files.output.trim().split("\n")) {
    await mkdir(join(copy, dirname(file)), { recursive: true });
    await cp(join(original, file), join(copy, file));
  }
  for (const name of await changesets()) await rm(join(copy, ".changeset", name));
  const { packageManager } = JSON.parse(await read("package.json")) as { packageManager: string };
  const install = ["install", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"];
  expect(run("npx", ["--yes", packageManager, ...install])).toMatchObject({ status: 0 });
  run("git", ["init", "--quiet", "--initial-branch=main"]);
  run("git", ["config", "user.name", "A"]);
  run("git", ["config", "user.email", "a@example.com"]);
  commit();
}, timeoutMs);

it("refuses without changesets, with a changed working tree, and a version that SECURITY.md does not support", async () => {
  expect(release()).toEqual(refusal(/There is nothing to release/));
  await write(".changeset/first.md", '---\n"@petstore/client": major\n---\n\nNew shape.\n\nSecond paragraph.\n');
  await write(".changeset/second.md", '---\n"@petstore/rest": patch\n---\n\nCorrected header.\n');
  expect(release()).toEqual(refusal(/has changes.*\.changeset\/first\.md/s));
  commit();
  expect(release()).toEqual(refusal(/SECURITY\.md does not list version 2\.0/));
});

it("shows the version and its changelog with --dry-run, and changes nothing", () => {
  expect(release("--dry-run").output).toMatch(
    /next version is 2\.0\.0\..*### Breaking changes\n\n\* New shape\.\n {2}\n {2}Second paragraph\.\n\n### Fixed\n\n\* Corrected header\.\n$/s,
  );
  expect(run("git", ["status", "--porcelain"]).output).toBe("");
});

it(
  "sets the version everywhere, writes the changelog and a bill of what is shipped, packs the client, and tags the commit",
  async () => {
    const security = await read("SECURITY.md");
    await write("SECURITY.md", security.replace("\n| 1.", "\n| 2.0 | yes |\n| 1."));
    const openApi = await read("services/rest/openapi.yaml");
    await write("services/rest/openapi.yaml", openApi.replace("operationId: listPets", "operationId: changed"));
    const schema = await read("services/graphql/schema.graphql");
    await write("services/graphql/schema.graphql", schema.replace("type Pet {", "type Pet @changed {"));
    commit();
    expect(release()).toEqual({ status: 0, output: expect.stringContaining("git push --follow-tags") });

    const ofPackages = ["package.json", "packages/*/package.json", "services/*/package.json", "tools/*/package.json"];
    const manifests = run("git", ["ls-files", ...ofPackages])
      .output.trim()
      .split("\n");
    expect(manifests.length).toBeGreaterThan(10);
    for (const path of manifests) expect([path, JSON.parse(await read(path)).version]).toEqual([path, "2.0.0"]);
    const overlay = await read("tools/deploy/kubernetes/overlay/kustomization.yaml");
    expect(overlay.match(/newTag: \S+/g)).toEqual(Array(3).fill("newTag: 2.0.0"));
    const changelog = await read("CHANGELOG.md");
    expect(changelog).toMatch(
      /^# Changelog\n.*\n## 2\.0\.0 \(\d{4}-\d\d-\d\d\)\n.*\* Corrected header\.\n\n## 1\.1\.0 /s,
    );
    const released = await read("services/rest/openapi.released.yaml");
    expect(released).toMatch(/^# The parts .*\npaths:\n.*operationId: changed\n.*\ncomponents:\n/s);
    expect(released).not.toContain("description:");
    expect(await read("services/graphql/schema.released.graphql")).toContain("type Pet @changed {");
    expect(await changesets()).toEqual([]);
    const bill = await read("sbom.cdx.json");
    expect(JSON.parse(bill)).toMatchObject({ bomFormat: "CycloneDX", metadata: { component: { name: "petstore" } } });
    const shipped = [...bill.matchAll(/"purl": "pkg:npm\/(.+)@/g)].map(([, name]) => name);
    expect(shipped).toEqual(expect.arrayContaining(["express", "pg", "ioredis", "graphql"]));
    for (const tool of ["turbo", "typescript", "%40biomejs/biome"]) expect(shipped).not.toContain(tool);
    expect(run("tar", ["-tzf", "petstore-client-2.0.0.tgz"]).output).toContain("package/dist/index.js\n");

    expect(run("git", ["log", "-1", "--format=%s %D"]).output).toBe("Release 2.0.0 HEAD -> main, tag: v2.0.0\n");
    expect(run("git", ["status", "--porcelain"]).output).toBe("");
  },
  timeoutMs,
);

function release(...options: readonly string[]): { status: number | null; output: string } {
  return run("node", ["run.mjs", "node", ".ci/release.mjs", ...options]);
}

function refusal(output: RegExp): object {
  return { status: 1, output: expect.stringMatching(output) };
}

function run(command: string, args: readonly string[], cwd = copy): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  // A slow installation writes to standard error.
  return { status, output: `${stderr}${stdout}` };
}

function commit(): void {
  run("git", ["add", "--all"]);
  expect(run("git", ["commit", "--quiet", "--message", "Change"])).toEqual({ status: 0, output: "" });
}

async function changesets(): Promise<string[]> {
  const names = await readdir(join(copy, ".changeset"));
  return names.filter((name) => name.endsWith(".md"));
}
