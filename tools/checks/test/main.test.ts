import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

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
