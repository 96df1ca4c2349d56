// The sentences of the documents that a release or a renamed script can make untrue.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const manifest = JSON.parse(await read("package.json")) as Manifest;

interface Manifest {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
}

it.each(["CONTRIBUTING.md", "tools/deploy/operations.md"])("%s names only scripts that exist", async (path) => {
  const scripts = [...(await read(path)).matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, script = ""]) => script);
  expect(scripts.filter((script) => manifest.scripts[script] === undefined)).toEqual([]);
  expect(scripts).not.toEqual([]);
});

it("CONTRIBUTING.md runs a single test that exists", async () => {
  const [, folder = "", file = ""] = /`cd (\S+) && npx vitest run (\S+)`/.exec(await read("CONTRIBUTING.md")) ?? [];
  expect(file).not.toBe("");
  expect(existsSync(join(root, folder, file))).toBe(true);
});

it.each(["README.md", "CONTRIBUTING.md"])("%s links to the contract", async (path) => {
  expect(await read(path)).toContain("[contract](services/rest/docs/interface.md)");
});

it("SECURITY.md and CHANGELOG.md name the current version", async () => {
  const [major, minor] = manifest.version.split(".");
  expect(await read("SECURITY.md")).toContain(`\n| ${major}.${minor} | yes |\n`);
  expect(await read("CHANGELOG.md")).toContain(`\n## ${manifest.version} (`);
});

function read(path: string): Promise<string> {
  return readFile(join(root, path), "utf8");
}
