import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const short = ["--rounds", "1", "--seconds", "0.2"];

describeWithRedis("bench", () => {
  test("a short rest-create measures both servers, judges its targets and writes profiles", async () => {
    await using directory = await openTemporaryDirectory();
    const [json, profiles] = [join(directory.path, "out.json"), join(directory.path, "new", "profiles")];
    const only = ["--only", "rest-create", "--connections", "4,32", "--json", json, "--profile", profiles];
    const { exit, output } = await bench([...only, ...short]);
    const { benchmarks } = JSON.parse(await readFile(json, "utf8"));
    const [{ tables, targets }] = benchmarks;
    expect(output).toMatch(
      /^rest-create at 32 .* petstore-rest \/ bare-express +\d\.\d{3} .* <= 0\.60 +(met|MISSED)$/m,
    );
    expect(tables.map(({ connections }: { readonly connections: number }) => connections)).toEqual([4, 32]);
    for (const name of ["petstore-rest", "bare-express"]) {
      expect(tables[1].rounds[name][0].cpuMicroseconds).toBeGreaterThan(10);
      expect(await readdir(profiles)).toContain(`${name}.cpuprofile`);
    }
    expect(exit).toBe(targets[0].met ? 0 : 1);
  });

  test("a short quota measures every engine", async () => {
    const { output } = await bench(["--only", "quota", ...short]);
    for (const engine of ["petstore-redis", "rlf-union", "petstore-local"]) {
      expect(output).toMatch(new RegExp(`^${engine} +\\d`, "m"));
    }
    expect(output).not.toContain("FAILED");
  });

  test("Ctrl-C ends a run, and everything that it has started", async () => {
    await using program = start(["--only", "rest-create", "--seconds", "0.2"]);
    await program.printed(/^Warm-up.*: petstore-rest$/m);
    const started = descendantsOf(program.pid);
    program.signal("SIGINT");
    expect(await program.ended).toBe(1);
    expect(program.output.at(-1)).toBe("Stopped.");
    // PostgreSQL and two servers, at least.
    expect(started.length).toBeGreaterThan(2);
    expect(started.filter((pid) => isRunning(pid))).toEqual([]);
  });
});

async function bench(words: readonly string[]) {
  await using program = start(words);
  return { exit: await program.ended, output: program.output.join("\n") };
}

function start(words: readonly string[]) {
  return startProgram({ name: "The benchmark", args: [main, ...words], environment: process.env });
}

function descendantsOf(pid: number): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = lines.map((line) => line.trim().split(/ +/).map(Number));
  const childrenOf = (parent: number): number[] =>
    pairs.flatMap(([own = 0, ofParent]) => (ofParent === parent ? [own, ...childrenOf(own)] : []));
  return childrenOf(pid);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // There is no such process.
    return false;
  }
}
