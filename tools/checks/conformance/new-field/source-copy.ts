/** A copy of the packages that know the fields of a pet, to change and build it. */
import { execFile } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import type { Additions } from "./additions.js";

const projects = ["services/rest", "services/graphql", "packages/client"];
const copied = ["packages/core", "packages/http", "packages/pages", ...projects, "tsconfig.base.json"];

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));

/** The copy has the output of the last build, so that only changed packages are built again. */
export async function copySources() {
  const directory = await openTemporaryDirectory();
  const pathOf = (path: string) => join(directory.path, path);
  await Promise.all(copied.map((path) => cp(join(root, path), pathOf(path), copyOptions)));
  await symlink(join(root, "node_modules"), pathOf("node_modules"));
  return {
    async add(additions: Additions): Promise<void> {
      for (const [path, changes] of Object.entries(additions)) {
        let text = await readFile(pathOf(path), "utf8");
        for (const [after, added] of changes) {
          if (text.split(after).length !== 2) throw new Error(`${path} must have this text once: ${after}`);
          text = text.replace(after, () => after + added);
        }
        await writeFile(pathOf(path), text);
      }
    },
    /** Returns the paths of the files that do not compile. */
    async build(): Promise<readonly string[]> {
      try {
        await promisify(execFile)(process.execPath, [tsc, "-b", ...projects], { cwd: directory.path });
        return [];
      } catch (failure) {
        const { stdout } = failure as { readonly stdout: string };
        const paths = [...stdout.matchAll(/^(\S+)\(\d+,\d+\): error /gm)].map(([, path = ""]) => path);
        if (paths.length === 0) throw failure;
        return paths;
      }
    },
    urlOf: (path: string): URL => pathToFileURL(pathOf(path)),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

/** pnpm's links are relative, so that those of the copy lead to its own packages. */
const copyOptions = {
  recursive: true,
  verbatimSymlinks: true,
  preserveTimestamps: true,
  filter: (path: string) => basename(path) !== "test",
};
