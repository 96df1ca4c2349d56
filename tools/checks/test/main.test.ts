import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

function run(...args: string[]): Promise<{ readonly exitCode: unknown; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) => {
      resolve({ exitCode: error === null ? 0 : error.code, output: stdout + stderr });
    });
  });
}

it.each([
  ["an option has a wrong value", ["fuzz", "--requests", "1e6"], '--requests cannot be "1e6"'],
  ["no file has the name", ["faults", "--only", "nothing"], "No test has such a name"],
  ["no test has the name", ["faults", "--only", "unavailable", "--name", "nothing"], "No test has such a name"],
])("ends with exit code 2 when %s", async (_what, args, message) => {
  expect(await run(...args)).toEqual({ exitCode: 2, output: expect.stringContaining(message) });
});
