import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** What was measured. */
export interface Commit {
  /** Its short name. */
  readonly name: string;
  /** Whether anything but results differs from it. */
  readonly dirty: boolean;
}

const run = promisify(execFile);

/** Undefined where the sources are in no Git repository, such as an unpacked archive, or where there is no Git. */
export async function readCommit(directory: string): Promise<Commit | undefined> {
  const git = async (...words: string[]) => (await run("git", ["-C", directory, ...words])).stdout.trim();
  let name: string;
  try {
    name = await git("rev-parse", "--short=7", "HEAD");
  } catch {
    // Whoever reads the result sees it in its name.
    return undefined;
  }
  const changes = await git("status", "--porcelain", "--", ":/", ":(top,exclude)tools/bench/results");
  return { name, dirty: changes !== "" };
}
