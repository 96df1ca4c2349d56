// run.mjs, which all commands of package.json call, in a repository with a small program. Scripts take the place of npx and pnpm.
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory, repository, startProgram } from "@petstore/harness/processes";
import { beforeAll, expect, it } from "vitest";

const { path: root } = await shared(openTemporaryDirectory());

beforeAll(async () => {
  await mkdir(join(root, "node_modules/.bin"), { recursive: true });
  await mkdir(join(root, "bin"));
  await copyFile(new URL("run.mjs", repository), join(root, "run.mjs"));
  await writeFile(join(root, "package.json"), '{ "packageManager": "pnpm@1.2.3", "engines": { "node": ">=20.0.0" } }');
  await writeProgram("bin/npx", 'echo "npx $*"');
  await writeProgram("node_modules/.bin/program", 'echo "ran $*"\nexit 2');
  await writeProgram("node_modules/.bin/waits", 'trap "exit 7" TERM\necho waiting\nwhile :; do sleep 0.1; done');
});

const start = (...args: readonly string[]) =>
  startProgram({
    name: "run.mjs",
    args: [join(root, "run.mjs"), ...args],
    environment: { PATH: `${join(root, "bin")}:${process.env.PATH}` },
  });

it("installs with the pnpm of package.json, passes arguments on, and ends with the exit code of the program", async () => {
  await using program = start("program", "--only", "two words");
  expect(await program.ended).toBe(2);
  expect(program.output).toContain("ran --only two words");
  // The output of a program that a pipe reads has nothing of the installation.
  const size = "all packages (1,060 packages, 840 MB)";
  expect(program.errorOutput).toEqual([
    `Installing ${size}. This takes one to four minutes.`,
    "npx --yes pnpm@1.2.3 install",
  ]);
});

it("builds what a tool needs without its options, so that other options build nothing again", async () => {
  await writeProgram("node_modules/.bin/turbo", 'echo "turbo $*" >> calls\ncase $* in *--only*) exit 3;; esac');
  await using program = start("tool", "@petstore/checks", "faults", "--only", "http");
  expect(await program.ended).toBe(3);
  expect((await readFile(join(root, "calls"), "utf8")).split("\n")).toEqual([
    "turbo run build --output-logs=errors-only --filter=@petstore/checks...",
    "turbo run faults --only --filter=@petstore/checks --log-prefix=none -- --only http",
    "",
  ]);
});

it("ends with the program at SIGTERM", async () => {
  await using program = start("waits");
  await program.printed(/waiting/);
  program.signal("SIGTERM");
  expect(await program.ended).toBe(7);
});

async function writeProgram(path: string, commands: string): Promise<void> {
  await writeFile(join(root, path), `#!/bin/sh\n${commands}\n`);
  await chmod(join(root, path), 0o755);
}
