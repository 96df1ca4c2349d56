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

it("runs the tests with a name, and writes their figures to a file", { timeout: 180_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "petstore-checks-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "figures.json");
  const { exitCode, output } = await run("faults", "--only", "unavailable", "--name", "wrong-password", "--json", file);
  expect(output).toMatch(/ok {5}rest: exit code: 1 \(= 1\)/);
  const { passed, tests } = JSON.parse(await readFile(file, "utf8"));
  expect(tests).toHaveLength(1);
  expect(tests[0].figures).toContainEqual({ what: "rest: exit code", measured: 1, unit: "", limit: { exactly: 1 } });
  // One figure is a time, which a busy machine may miss.
  expect(exitCode, output).toBe(passed ? 0 : 1);
});

it("ends with exit code 2 when no test has the name", async () => {
  const { exitCode, errorOutput } = await run("faults", "--only", "unavailable", "--name", "no-such-name");
  expect({ exitCode, errorOutput }).toEqual({ exitCode: 2, errorOutput: expect.stringContaining("--list") });
});
