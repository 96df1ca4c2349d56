import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { NotPossibleHere } from "./scenario.js";

/** The last commit of version 1.0.0. */
const commit = "139b4c8";

const run = promisify(execFile);
const repository = fileURLToPath(new URL("../../../", import.meta.url));

/** The previous release, built in a temporary folder. Disposing removes it. */
export interface PreviousRelease extends AsyncDisposable {
  /** The program of a service. */
  main(service: string): URL;
}

/** Takes the release from the Git history, installs its dependencies and builds its services: about a minute. */
export async function buildPreviousRelease(): Promise<PreviousRelease> {
  await run("git", ["-C", repository, "cat-file", "-e", `${commit}^{commit}`]).catch(() => {
    throw new NotPossibleHere(`the Git history here does not reach the previous release, ${commit}`);
  });
  const folder = await mkdtemp(join(tmpdir(), "petstore-previous-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await run("sh", ["-c", `git -C "$1" archive ${commit} | tar -x -C "$2"`, "sh", repository, folder]);
    const pnpm = (...words: string[]) =>
      run("npx", ["--yes", "pnpm@12.21.0", ...words], { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
    await pnpm("install", "--frozen-lockfile", "--prefer-offline");
    await pnpm("exec", "turbo", "run", "build", "--filter=@petstore/rest...", "--filter=@petstore/graphql...");
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    main: (service) => pathToFileURL(join(folder, "services", service, "dist", "main.js")),
    [Symbol.asyncDispose]: remove,
  };
}
