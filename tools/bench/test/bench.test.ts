import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/testing";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

interface Run {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

function bench(...words: string[]): Promise<Run> {
  return benchIn(process.env, ...words);
}

function benchIn(env: NodeJS.ProcessEnv, ...words: string[]): Promise<Run> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...words], { env }, (_error, printed, complained) => {
      resolve({ exitCode: child.exitCode ?? -1, printed, complained });
    });
  });
}

test("a short rest-list measures both servers and judges its goal", { timeout: 120_000 }, async () => {
  const directory = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
  const file = join(directory, "report.json");
  const run = await bench("rest-list", "--rounds", "1", "--seconds", "1", "--connections", "4", "--json", file);
  const report = JSON.parse(await readFile(file, "utf8"));
  await rm(directory, { recursive: true });

  expect(run.printed).toMatch(/^server +requests\/s .*CPU us\/request/m);
  expect(run.printed).toMatch(/^petstore-rest +\d/m);
  expect(run.printed).toMatch(/^bare-express +\d/m);
  expect(run.printed).toMatch(/petstore-rest \/ bare-express: \d\.\d{3} .*goal at most 0\.80: (met|MISSED)/);
  expect(Object.keys(report.servers)).toEqual(["petstore-rest", "bare-express"]);
  // Met or missed, on a machine that runs other tests as well, is no matter.
  expect(run.exitCode).toBe(report.goals[0].met ? 0 : 1);
});

describeWithRedis("quota", () => {
  test("a short quota measures every engine and judges its goals", { timeout: 120_000 }, async () => {
    const engines = ["petstore-redis", "rlf-union", "rlr-in-sequence", "petstore-local"];
    const directory = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
    const file = join(directory, "report.json");
    const run = await bench("quota", "--rounds", "1", "--seconds", "1", "--connections", "8", "--json", file);
    const report = JSON.parse(await readFile(file, "utf8"));
    await rm(directory, { recursive: true });

    expect(run.printed).toMatch(/^engine +decisions\/s .*CPU us\/decision .*Redis bytes\/account/m);
    for (const engine of engines) expect(run.printed).toMatch(new RegExp(`^${engine} +\\d`, "m"));
    expect(run.printed).toMatch(/petstore-redis \/ rlf-union: \d+\.\d{3} .*goal at least 1\.30: (met|MISSED)/);
    expect(run.printed).toMatch(/bytes\/account, petstore-redis: \d+ .*goal at most 250: met/);
    expect(Object.keys(report.servers)).toEqual(engines);
    const goals: readonly { readonly met: boolean }[] = report.goals;
    expect(goals).toHaveLength(6);
    expect(run.exitCode).toBe(goals.every(({ met }) => met) ? 0 : 1);
  });
});

test("without redis-server the quota benchmark says so, with exit code 1", async () => {
  const { exitCode, printed, complained } = await benchIn({ PATH: "" }, "quota");
  expect({ exitCode, printed }).toEqual({ exitCode: 1, printed: "" });
  expect(complained).toContain("There is no redis-server in PATH, and this benchmark needs one.");
});

test("an unknown benchmark is answered with the names and exit code 2", async () => {
  const { exitCode, printed, complained } = await bench("nothing");
  expect({ exitCode, printed, complained }).toEqual({
    exitCode: 2,
    printed: "",
    complained: "Name one benchmark: rest-list, quota.\n",
  });
});
