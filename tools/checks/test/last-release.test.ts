// Which commit the fault cases of rolling upgrades build, in repositories of their own.
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { beforeAll, expect, it } from "vitest";
import { findLastRelease } from "../faults/rolling/last-release.js";

const { path: folder } = await shared(openTemporaryDirectory());
const repository = join(folder, "repository");
let released = "";

beforeAll(async () => {
  await mkdir(repository);
  git("init", "--quiet");
  await setVersion(repository, "2.0.0");
  released = commit("Release 2.0.0");
  git("tag", "--annotate", "v2.0.0", "--message", "Version 2.0.0");
  commit("Change something");
});

it("is the tagged commit of the version that package.json still has", async () => {
  expect(await findLastRelease(repository)).toEqual({ version: "2.0.0", commit: released });
});

it("is missing in a shallow clone without the tag", async () => {
  const clone = join(folder, "clone");
  git("clone", "--quiet", "--depth=1", "--no-tags", `file://${repository}`, clone);
  expect(await findLastRelease(clone)).toEqual({ version: "2.0.0", commit: undefined });
});

it("is missing in a folder that is no clone", async () => {
  await setVersion(folder, "2.0.0");
  expect(await findLastRelease(folder)).toEqual({ version: "2.0.0", commit: undefined });
});

function git(...args: readonly string[]): string {
  const author = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  return execFileSync("git", [...author, ...args], { cwd: repository, encoding: "utf8" }).trim();
}

function setVersion(path: string, version: string): Promise<void> {
  return writeFile(join(path, "package.json"), JSON.stringify({ version }));
}

function commit(message: string): string {
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message", message);
  return git("rev-parse", "HEAD");
}
