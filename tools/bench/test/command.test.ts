import { execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeWithRedis } from "@petstore/harness";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { expect, test } from "vitest";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const results = new URL("../results", import.meta.url);

describeWithRedis("bench", () => {
  test("a short run measures every server and engine, judges its targets, and is not kept", async () => {
    await using directory = await openTemporaryDirectory();
    const keptBefore = await readdir(results);
    const json = join(directory.path, "out.json");
    const only = ["--only", "rest-create", "--only", "quota at", "--connections", "4,32", "--json", json];
    await using program = start([...only, "--rounds", "1", "--seconds", "0.2"]);
    const exit = await program.ended;
    const [, verdict] =
      /^rest-create at 32 +CPU us.* petstore-rest \/ bare-express +\d.* <= 0\.6 +(met|MISSED)$/m.exec(
        program.output.join("\n"),
      ) ?? [];
    expect({ verdict, exit }).toEqual(verdict === "met" ? { verdict, exit: 0 } : { verdict: "MISSED", exit: 1 });
    const { testResults } = JSON.parse(await readFile(json, "utf8"));
    const names = testResults[0].assertionResults.map(({ title, meta }: Assertion) => [
      title,
      Object.keys(meta.rounds ?? {}),
    ]);
    expect(Object.fromEntries(names)).toMatchObject({
      "rest-create at 4": ["petstore-rest", "bare-express"],
      "rest-create at 32": ["petstore-rest", "bare-express"],
      "quota at 4": ["petstore-redis", "rlf-union"],
      "quota at 32": ["petstore-redis", "rlf-union"],
    });
    expect(await readdir(results)).toEqual(keptBefore);
  });

  test("a killed run ends everything that it has started", async () => {
    await using program = start(["--only", "rest-create", "--seconds", "0.2"]);
    await program.printed(/^Warm-up.*: bare-express$/m);
    const started = descendantsOf(program.pid);
    program.signal("SIGINT");
    await program.ended;
    // PostgreSQL, Redis and two servers, at least.
    expect(started.length).toBeGreaterThan(4);
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
  });
});

interface Assertion {
  readonly title: string;
  readonly meta: { readonly rounds?: object };
}

function start(words: readonly string[]) {
  return startProgram({ name: "The benchmark", args: [main, ...words], environment: process.env });
}

function descendantsOf(ancestor: number): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = lines.map((line) => line.trim().split(/ +/).map(Number));
  const found = [ancestor];
  // `found` grows while the loop runs.
  for (const parent of found) {
    for (const [pid = 0, parentOfPid] of pairs) if (parentOfPid === parent) found.push(pid);
  }
  return found;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    // It has ended.
    return false;
  }
}
