import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

interface Ended {
  readonly exitCode: unknown;
  readonly output: string;
  readonly errorOutput: string;
}

function run(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, output, errorOutput) => {
      resolve({ exitCode: error === null ? 0 : error.code, output, errorOutput });
    });
  });
}

it("ends with exit code 2 when the arguments are wrong", async () => {
  expect(await run("nothing")).toEqual({
    exitCode: 2,
    output: "",
    errorOutput: expect.stringContaining('There is no project "nothing"'),
  });
});

it("runs the tests with a name, writes their figures to a file and ends with exit code 0", async () => {
  const directory = await mkdtemp(join(tmpdir(), "petstore-checks-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "figures.json");
  const { exitCode, output } = await run("faults", "--only", "unavailable", "--name", "wrong-password", "--json", file);
  expect(output).toMatch(/ok {5}rest: exit code: 1 \(= 1\)/);
  expect(output).toMatch(/^1 passed, 0 failed, 0 skipped in /m);
  expect(exitCode, output).toBe(0);
  const { passed, tests } = JSON.parse(await readFile(file, "utf8"));
  expect({ passed, tests }).toMatchObject({ passed: true, tests: [{ result: "passed" }] });
});

it("ends with exit code 2 when no test has the name", async () => {
  const { exitCode, errorOutput } = await run("faults", "--only", "unavailable", "--name", "no-such-name");
  expect({ exitCode, errorOutput }).toEqual({ exitCode: 2, errorOutput: expect.stringContaining("--list") });
});
