import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function run(...args: string[]): Promise<{ readonly exitCode: unknown; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : error.code, output: stdout + stderr });
    });
  });
}

it("runs the tests with a name, and writes their figures to a file", { timeout: 180_000 }, async () => {
  await using directory = await openTemporaryDirectory();
  const file = join(directory.path, "figures.json");
  const { exitCode, output } = await run("client", "--only", "virtual", "--name", "one client", "--json", file);
  expect(output).toMatch(/ok +failed calls: +0 +\(= 0\)/);
  const { success, testResults } = JSON.parse(await readFile(file, "utf8"));
  expect(JSON.stringify(testResults)).toContain('{"what":"failed calls","measured":"0","limit":"= 0","isMet":true}');
  expect({ exitCode, success }, output).toEqual({ exitCode: 0, success: true });
});

it.each([
  ["no project has the name", ["nothing"], 'There is no project "nothing"'],
  ["no file has the name", ["faults", "--only", "nothing"], "No test has such a name"],
  ["no test has the name", ["faults", "--only", "unavailable", "--name", "nothing"], "No test has such a name"],
])("ends with exit code 2 when %s", async (_what, args, message) => {
  expect(await run(...args)).toEqual({ exitCode: 2, output: expect.stringContaining(message) });
});
