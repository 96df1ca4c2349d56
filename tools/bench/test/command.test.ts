import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

describeWithRedis("bench", () => {
  test("a short run measures every server and engine, and judges its targets", async () => {
    await using directory = await openTemporaryDirectory();
    const json = join(directory.path, "out.json");
    const only = ["--only", "rest-create", "--only", "quota", "--connections", "4,32", "--json", json];
    await using program = start([...only, "--rounds", "1", "--seconds", "0.2"]);
    expect([0, 1]).toContain(await program.ended);
    expect(program.output.join("\n")).toMatch(
      /^rest-create at 32 .* petstore-rest \/ bare-express +\d\.\d{3} .* <= 0\.60 +(met|MISSED)$/m,
    );
    const tablesOf = (...names: readonly string[]) => {
      const rounds = Object.fromEntries(names.map((name) => [name, [{ cpuMicroseconds: expect.any(Number) }]]));
      return [4, 32].map((connections) => ({ connections, rounds }));
    };
    expect(JSON.parse(await readFile(json, "utf8")).benchmarks).toMatchObject([
      { name: "rest-create", tables: tablesOf("petstore-rest", "bare-express") },
      { name: "quota", tables: tablesOf("petstore-redis", "rlf-union") },
    ]);
  });

  test("Ctrl-C ends a run, and everything that it has started", async () => {
    await using program = start(["--only", "rest-create", "--seconds", "0.2"]);
    await program.printed(/^Warm-up.*: petstore-rest$/m);
    const started = processes().filter(({ parent }) => parent === program.pid);
    program.signal("SIGINT");
    expect(await program.ended).toBe(1);
    expect(program.output.at(-1)).toBe("Stopped.");
    // PostgreSQL and two servers, at least.
    expect(started.length).toBeGreaterThan(2);
    const pids = started.map(({ pid }) => pid);
    expect(processes().filter(({ pid }) => pids.includes(pid))).toEqual([]);
  });
});

function start(words: readonly string[]) {
  return startProgram({ name: "The benchmark", args: [main, ...words], environment: process.env });
}

function processes() {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  return lines.map((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/ +/).map(Number);
    return { pid, parent };
  });
}
