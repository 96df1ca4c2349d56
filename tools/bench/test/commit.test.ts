import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCommit } from "../src/commit.js";

interface Sources extends AsyncDisposable {
  readonly bench: string;
  write(path: string, text: string): Promise<void>;
  git(...words: string[]): string;
}

async function openSources(): Promise<Sources> {
  const root = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
  const bench = join(root, "tools/bench");
  await mkdir(join(bench, "results"), { recursive: true });
  const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  return {
    bench,
    write: (path, text) => writeFile(join(root, path), text),
    git: (...words) => execFileSync("git", ["-C", root, ...author, ...words], { encoding: "utf8" }).trim(),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true }),
  };
}

test("a commit is dirty by any change of the tree but one of results", async () => {
  await using sources = await openSources();
  sources.git("init", "--quiet");
  await sources.write("code.ts", "1");
  sources.git("add", ".");
  sources.git("commit", "--quiet", "--message", "One");
  const name = sources.git("rev-parse", "--short=7", "HEAD");
  expect(await readCommit(sources.bench)).toEqual({ name, dirty: false });

  await sources.write("tools/bench/results/2026-11-21-abc1234.json", "{}");
  expect(await readCommit(sources.bench)).toEqual({ name, dirty: false });

  await sources.write("code.ts", "2");
  expect(await readCommit(sources.bench)).toEqual({ name, dirty: true });
});

test("sources outside any repository have no commit", async () => {
  await using sources = await openSources();
  expect(await readCommit(sources.bench)).toBeUndefined();
});
