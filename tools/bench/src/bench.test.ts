import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { expect, test } from "vitest";
import { runBench } from "./bench.js";
import type { Benchmark, Target } from "./benchmark.js";

const broken: Benchmark = { ...costing("broken", []), run: () => Promise.reject(new Error("there is no database")) };

test("ends with one table of all targets, and exit code 0 when each is met", async () => {
  const { exitCode, printed } = await bench("", [costing("one", [60, 70, 80]), costing("other", [50])]);
  expect(exitCode).toBe(0);
  expect(printed).toMatch(
    /\nbenchmark .*\none at 32 .* 0\.700 \(0\.600\.\.0\.800\) +<= 0\.80 +met\nother at 32 .* met\n/,
  );
});

test.each([
  ["a missed target", 1, [81], {}, /one at 32 .* MISSED\n/],
  ["a missed stretch goal", 0, [75], { stretch: 0.7 }, / <= 0\.80 +met\n.* <= 0\.70 +missed \(stretch goal\)\n/],
] as const)("after %s, the exit code is %i", async (_, expected, ours, target, row) => {
  const { exitCode, printed } = await bench("", [costing("one", ours, target)]);
  expect(exitCode).toBe(expected);
  expect(printed).toMatch(row);
});

test("runs the other benchmarks when one fails, with exit code 1", async () => {
  const { exitCode, printed } = await bench("", [broken, costing("one", [60])]);
  expect(exitCode).toBe(1);
  expect(printed).toMatch(/\nbroken .* FAILED: there is no database\none at 32 .* met\n/);
});

test("keeps a complete run of a clean commit, with every round", async () => {
  const { kept } = await bench("", [costing("one", [60, 70, 80.12345]), broken]);
  const theirs = [{ cpu: 100 }, { cpu: 100 }, { cpu: 100 }];
  expect(kept).toEqual({
    "2026-11-21-abc1234.json": expect.objectContaining({
      benchmarks: [
        {
          name: "one",
          targets: [expect.objectContaining({ atMost: 0.8, met: true, ratio: { median: 0.7, min: 0.6, max: 0.8012 } })],
          tables: [{ connections: 32, rounds: { ours: [{ cpu: 60 }, { cpu: 70 }, { cpu: 80.12 }], theirs } }],
        },
        { name: "broken", failure: "there is no database", targets: [], tables: [] },
      ],
    }),
  });
});

test.each([
  ["--only one", "abc1234"],
  ["--rounds 1", "abc1234"],
  ["--seconds 1", "abc1234"],
  ["--connections 32", "abc1234"],
  ["", null],
])("keeps no run with the options '%s' at the commit %s", async (words, commit) => {
  expect(await bench(words, [costing("one", [60])], commit)).toMatchObject({ exitCode: 0, kept: {} });
});

/** Our server has these costs; its peer costs 100 in every round. */
function costing(name: string, ours: readonly number[], target: Partial<Target> = {}): Benchmark {
  const rounds = { ours: ours.map((cpu) => ({ cpu })), theirs: ours.map(() => ({ cpu: 100 })) };
  return {
    name,
    summary: `about ${name}`,
    measures: { cpu: { label: "CPU us", digits: 0 } },
    targets: [{ connections: 32, measure: "cpu", of: "ours", against: "theirs", atMost: 0.8, ...target }],
    defaults: { rounds: ours.length, seconds: 1, connections: [32] },
    run: async ({ connections }) => connections.map((number) => ({ connections: number, rounds })),
  };
}

async function bench(words: string, benchmarks: readonly Benchmark[], commit: string | null = "abc1234") {
  await using directory = await openTemporaryDirectory();
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const exitCode = await runBench(words.split(" ").filter(Boolean), benchmarks, {
    print,
    progress: (line) => print(`${line}\n`),
    signal: new AbortController().signal,
    resultsDirectory: directory.path,
    commit: async () => commit ?? undefined,
    now: () => Date.parse("2026-11-21T12:00:00Z"),
  });
  const kept: Record<string, unknown> = {};
  for (const file of await readdir(directory.path)) {
    kept[file] = JSON.parse(await readFile(join(directory.path, file), "utf8"));
  }
  return { exitCode, printed, kept };
}
