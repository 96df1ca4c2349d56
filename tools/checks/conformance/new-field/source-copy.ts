/** A copy of the packages that know the fields of a pet, to change and build it. */
import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

export interface SourceCopy extends AsyncDisposable {
  /** Applies a patch of this folder, or its part for one file. */
  apply(patch: string, path?: string): Promise<void>;
  /** The paths of the files that do not compile. */
  build(): Promise<readonly string[]>;
  /** The exports of a package. */
  load<Exports>(path: string): Promise<Exports>;
  urlOf(path: string): URL;
}

/** This file compares the types of the client with those of core. */
export const typeComparison = "tools/checks/conformance/client/pet-types.test.ts";

const services = ["services/rest", "services/graphql"];
const packages = ["packages/core", "packages/http", "packages/pages", "packages/client", ...services];

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const tsc = fileURLToPath(new URL("bin/tsc", import.meta.resolve("typescript/package.json")));
const run = promisify(execFile);

/** The copy has the output of the last build, so that only changed packages are built again. */
export async function copySources(): Promise<SourceCopy> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-new-field-"));
  const copied = [
    ...packages,
    "tools/checks/node_modules",
    "tools/checks/package.json",
    typeComparison,
    "tsconfig.base.json",
  ];
  await Promise.all(copied.map((path) => cp(join(root, path), join(directory, path), copyOptions)));
  await symlink(join(root, "node_modules"), join(directory, "node_modules"));
  await writeFile(join(directory, "tools/checks/tsconfig.json"), JSON.stringify(comparisonConfig));
  return {
    async apply(patch, path = "*") {
      const file = fileURLToPath(new URL(patch, import.meta.url));
      await run("git", ["apply", `--include=${path}`, file], { cwd: directory });
    },
    async build() {
      const projects = [...services, "packages/client", "tools/checks"];
      try {
        await run(process.execPath, [tsc, "-b", ...projects], { cwd: directory });
        return [];
      } catch (failure) {
        const { stdout } = failure as { readonly stdout: string };
        const paths = [...stdout.matchAll(/^(\S+)\(\d+,\d+\): error /gm)].map(([, path = ""]) => path);
        if (paths.length === 0) throw failure;
        return [...new Set(paths)].sort();
      }
    },
    load: async (path) => import(pathToFileURL(join(directory, path, "dist/index.js")).href),
    urlOf: (path) => pathToFileURL(join(directory, path)),
    async [Symbol.asyncDispose]() {
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** pnpm's links are relative, so that those of the copy lead to its own packages. */
const copyOptions = {
  recursive: true,
  verbatimSymlinks: true,
  preserveTimestamps: true,
  filter: (path: string) => basename(path) !== "test",
};

const comparisonConfig = {
  extends: "../../tsconfig.base.json",
  compilerOptions: { outDir: "dist", tsBuildInfoFile: "dist/.tsbuildinfo" },
  include: ["conformance/client"],
  references: [{ path: "../../packages/core" }, { path: "../../packages/client" }],
};
