import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

interface Run {
  readonly exitCode: number;
  readonly printed: string;
  readonly complained: string;
}

interface Judged {
  readonly met: boolean;
  readonly uncounted?: string;
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

test("a short rest-create at two numbers of connections shows both, and judges at its own", async () => {
  const directory = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
  const file = join(directory, "report.json");
  const run = await bench(
    "--only",
    "rest-create",
    "--rounds",
    "1",
    "--seconds",
    "0.2",
    "--connections",
    "4,32",
    "--json",
    file,
  );
  const report = JSON.parse(await readFile(file, "utf8"));
  await rm(directory, { recursive: true });

  expect(run.printed).toMatch(/^rest-create: .* connections: 4, [\s\S]*^rest-create: .* connections: 32, /m);
  expect(run.printed).toMatch(/^server +requests\/s .*CPU us\/request/m);
  expect(run.printed).toMatch(/^petstore-rest +\d/m);
  expect(run.printed).toMatch(/^bare-express +\d/m);
  expect(run.printed).toMatch(
    /^rest-create at 32 +CPU us\/request +petstore-rest \/ bare-express +\d\.\d{3} .* <= 0\.60 +(met|MISSED)$/m,
  );
  const [{ tables, goals }] = report.benchmarks;
  expect(tables.map(({ connections }: { readonly connections: number }) => connections)).toEqual([4, 32]);
  expect(Object.keys(tables[0].rounds)).toEqual(["petstore-rest", "bare-express"]);
  // Met or missed, on a machine that runs other tests as well, is no matter.
  expect(run.exitCode).toBe(goals[0].met ? 0 : 1);
});

describeWithRedis("quota", () => {
  test("a short quota measures every engine and judges its goals", async () => {
    const engines = ["petstore-redis", "rlf-union", "petstore-local"];
    const directory = await mkdtemp(join(tmpdir(), "petstore-bench-test-"));
    const file = join(directory, "report.json");
    const run = await bench("--only", "quota", "--rounds", "1", "--seconds", "0.2", "--json", file);
    const report = JSON.parse(await readFile(file, "utf8"));
    await rm(directory, { recursive: true });

    expect(run.printed).toMatch(/^engine +decisions\/s .*CPU us\/decision .*Redis bytes\/account/m);
    for (const engine of engines) expect(run.printed).toMatch(new RegExp(`^${engine} +\\d`, "m"));
    expect(run.printed).toMatch(/^quota at 64 .*petstore-redis \/ rlf-union +\d+\.\d{3} .*>= 1\.30 +(met|MISSED)$/m);
    expect(run.printed).toMatch(/^quota at 64 .*bytes\/account +petstore-redis +\d+ .*<= 250 +met \(information\)$/m);
    const [{ tables, goals }] = report.benchmarks;
    expect(Object.keys(tables[0].rounds)).toEqual(engines);
    const counted = goals.filter(({ uncounted }: Judged) => uncounted === undefined);
    expect(counted).toHaveLength(1);
    expect(run.exitCode).toBe(counted.every(({ met }: Judged) => met) ? 0 : 1);
  });
});

test("without redis-server the quota benchmark is a failed row that says so, with exit code 1", async () => {
  const { exitCode, printed } = await benchIn({ PATH: "" }, "--only", "quota");
  expect(exitCode).toBe(1);
  expect(printed).toMatch(/^quota .*FAILED: There is no redis-server in PATH, and this benchmark needs one\.$/m);
});

test("an unknown benchmark is answered with the names and exit code 2", async () => {
  const { exitCode, printed, complained } = await bench("--only", "nothing");
  expect({ exitCode, printed, complained }).toEqual({
    exitCode: 2,
    printed: "",
    complained: expect.stringMatching(/^There is no benchmark nothing\. There are: rest-mixed, .*, start\.\n$/),
  });
});

test("Ctrl-C ends a run with all that it has started", async () => {
  const child = spawn(process.execPath, [main, "--only", "rest-create", "--seconds", "0.2"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complained = "";
  let started: number[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
    if (started.length > 0 || !/^Warm-up.*: petstore-rest,/m.test(complained)) return;
    started = descendantsOf(child.pid ?? 0);
    child.kill("SIGINT");
  });
  const [exitCode] = await once(child, "close");
  expect(exitCode).toBe(1);
  expect(complained).toMatch(/\nStopped\.\n$/);
  // PostgreSQL, two servers and the load generator, at least.
  expect(started.length).toBeGreaterThan(3);
  expect(started.filter(isRunning)).toEqual([]);
});

function descendantsOf(pid: number): number[] {
  const pairs = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/ +/).map(Number));
  const childrenOf = (parent: number): number[] =>
    pairs.flatMap(([own = 0, ofParent]) => (ofParent === parent ? [own, ...childrenOf(own)] : []));
  return childrenOf(pid);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // There is no such process: what is hoped for.
    return false;
  }
}
