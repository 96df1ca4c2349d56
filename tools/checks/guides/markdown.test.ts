// Rules for every Markdown file of the repository, and one for its messages too.
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { anchorsOf, repository } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(repository);
const skipped = new Set(["node_modules", "dist", ".git", ".turbo"]);
const files = await filesOf("", /\.md$/);

describe.each(files)("%s", (path) => {
  it("links only to files, folders and headings that exist", async () => {
    const links = [...(await prose(path)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
    const broken: string[] = [];
    for (const link of links.filter((one) => !/^[a-z]+:/.test(one))) {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      const exists =
        existsSync(join(root, target)) && (anchor === undefined || anchorsOf(await prose(target)).includes(anchor));
      if (!exists) broken.push(link);
    }
    expect(broken).toEqual([]);
  });
});

/** npm has an unrelated package of this name. Outside the root of the repository, npx would run it, with DATABASE_URL. */
it("no guide and no message runs a stranger's package petstore", async () => {
  const fromNpm = /\b(?:npx|npm (?:exec|install|i)|pnpm dlx|yarn dlx|bunx)\s+(?:-\S+\s+)*petstore(?![\w-])/;
  const texts = await filesOf("", /\.(?:md|ts|mjs|sh|yaml|html)$|^\.ci\/\w+$/);
  expect(texts.length).toBeGreaterThan(400);
  const unsafe: string[] = [];
  for (const path of texts) if (fromNpm.test(await read(path))) unsafe.push(path);
  expect(unsafe).toEqual([]);
});

function read(path: string): Promise<string> {
  return readFile(join(root, path), "utf8");
}

async function filesOf(folder: string, name: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !skipped.has(entry.name)) found.push(...(await filesOf(path, name)));
    if (entry.isFile() && name.test(path)) found.push(path);
  }
  return found.sort();
}

/** The text without its blocks of code. */
async function prose(path: string): Promise<string> {
  return (await read(path)).replaceAll(/^ *```.*?^ *```$/gms, "");
}
