import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface Outcome {
  readonly exitCode: number;
  readonly output: string;
}

const root = fileURLToPath(new URL("without-redis", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));

/** Runs a suite that would fail, without any program in PATH. */
async function runWithoutRedis(ci: string): Promise<Outcome> {
  const env = { ...process.env, PATH: root, CI: ci, NO_COLOR: "1" };
  return new Promise((resolve) => {
    execFile(process.execPath, [vitest, "run", "--root", root], { env }, (error, stdout, stderr) => {
      resolve({ exitCode: Number(error?.code ?? 0), output: stdout + stderr });
    });
  });
}

test("without redis-server in PATH a suite is skipped and says so", async () => {
  const { exitCode, output } = await runWithoutRedis("");
  expect(output).toContain("1 skipped");
  expect(output).toContain("Skipped, because redis-server is not in PATH: a suite that needs Redis");
  expect(exitCode).toBe(0);
});

test("where CI is set, a suite without redis-server fails instead", async () => {
  const { exitCode, output } = await runWithoutRedis("true");
  expect(output).toContain("redis-server is not in PATH. A machine with CI set must have it");
  expect(exitCode).toBe(1);
});
