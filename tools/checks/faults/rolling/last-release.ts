// The last release, built from the Git history, to run beside this version.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { createPetStoreClient } from "@petstore/client";
import { repository, searchPath } from "@petstore/harness/processes";
import { type Api, apis } from "../environment/apis.js";

export interface Release {
  readonly version: string;
  /** The REST and the GraphQL API, served by its programs. */
  readonly apis: readonly Api[];
  readonly createPetStoreClient: typeof createPetStoreClient;
  /** Does what `petstore migrate` of the release does. */
  migrate(url: string): Promise<void>;
}

/** The commits of releases from before `npm run release` made tags. */
const untagged: Readonly<Record<string, string>> = { "1.1.0": "199d30b1497a506fcdb50569e3374f2031edcdfb" };

const run = promisify(execFile);
const original = fileURLToPath(repository);
/** Git, biome and the Docker build ignore this folder. */
const releases = join(original, ".turbo", "releases");

/** Skips the test in a clone that does not have the release. If CI is set, nobody reads what was skipped, so the test fails. */
export async function openLastRelease(skip: (reason: string) => never): Promise<Release> {
  const { version, commit } = await findLastRelease(original);
  if (commit !== undefined) return openRelease(version, await build(commit));
  const reason = `this clone has no version ${version}: git fetch --tags, and --unshallow if the clone is shallow`;
  // biome-ignore lint/style/noProcessEnv: only tests use this.
  if (process.env.CI) throw new Error(reason);
  return skip(reason);
}

/** The version of package.json, because only `npm run release` changes it. Its commit is `undefined` in a clone without it. */
export async function findLastRelease(
  clone: string,
): Promise<{ readonly version: string; readonly commit: string | undefined }> {
  const { version } = JSON.parse(await readFile(join(clone, "package.json"), "utf8")) as { readonly version: string };
  const name = untagged[version] ?? `refs/tags/v${version}`;
  const looked = run("git", ["-C", clone, "rev-parse", "--verify", "--quiet", `${name}^{commit}`]);
  const commit = await looked.then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
  return { version, commit };
}

/**
 * Builds the services and the client of a commit in a minute, and returns their folder. Later test files and runs find it there.
 * Other releases are removed, and so is one whose build was interrupted.
 */
async function build(commit: string): Promise<string> {
  const folder = join(releases, commit);
  if (existsSync(folder)) return folder;
  await rm(releases, { recursive: true, force: true });
  const draft = `${folder}-draft`;
  await mkdir(draft, { recursive: true });
  await run("sh", ["-c", 'git -C "$1" archive "$2" | tar -x -C "$3"', "sh", original, commit, draft]);
  const { packageManager } = JSON.parse(await readFile(join(draft, "package.json"), "utf8"));
  const pnpm = (...args: string[]) =>
    run("npx", ["--yes", packageManager, ...args], { cwd: draft, maxBuffer: 64 * 1024 * 1024 });
  await pnpm("install", "--frozen-lockfile", "--prefer-offline");
  // Without turbo, whose cache would take the files of this folder for none, because Git ignores it.
  const packages = ["@petstore/rest...", "@petstore/graphql...", "@petstore/client..."];
  await pnpm(...packages.map((name) => `--filter=${name}`), "run", "build");
  await rename(draft, folder);
  return folder;
}

async function openRelease(version: string, folder: string): Promise<Release> {
  const built = (path: string) => pathToFileURL(join(folder, path));
  const client = (await import(built("packages/client/dist/index.js").href)) as Pick<Release, "createPetStoreClient">;
  const core = built("packages/core/dist/index.js").href;
  const migrate = `import { migrate } from "${core}"; await migrate(process.env.DATABASE_URL);`;
  return {
    version,
    apis: apis.map((api) => ({ ...api, main: built(`services/${api.name}/dist/main.js`) })),
    createPetStoreClient: client.createPetStoreClient,
    async migrate(url) {
      const env = { PATH: searchPath(), DATABASE_URL: url };
      await run(process.execPath, ["--input-type=module", "--eval", migrate], { env });
    },
  };
}
