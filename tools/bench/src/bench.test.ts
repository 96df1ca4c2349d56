import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { expect, test } from "vitest";
import { type BenchDeps, runBench } from "./bench.js";
import type { Benchmark } from "./benchmark.js";

const broken: Benchmark = { ...costing("broken", []), run: () => Promise.reject(new Error("there is no database")) };

test("ends with one table of all targets, and exit code 0 when each is met", async () => {
  await using run = await openRun();
  expect(await run.bench("", [costing("one", [60, 70, 80]), costing("other", [50])])).toBe(0);
  expect(run.printed()).toMatch(
    /\nbenchmark .*\none at 32 .* 0\.700 \(0\.600\.\.0\.800\) +<= 0\.80 +met\nother at 32 .* met\n/,
  );
});

test("has exit code 1 for a missed target, but not for a stretch goal", async () => {
  await using run = await openRun();
  const one = costing("one", [75]);
  const targets = one.targets.map((target) => ({ ...target, stretch: 0.7 }));
  expect(await run.bench("", [{ ...one, targets }])).toBe(0);
  expect(run.printed()).toMatch(/one at 32 .* <= 0\.80 +met\none at 32 .* <= 0\.70 +missed \(stretch goal\)\n/);
  expect(await run.bench("", [costing("one", [81])])).toBe(1);
  expect(run.printed()).toMatch(/one at 32 .* MISSED\n/);
});

test("runs the other benchmarks when one fails, with exit code 1", async () => {
  await using run = await openRun();
  expect(await run.bench("", [broken, costing("one", [60])])).toBe(1);
  expect(run.printed()).toMatch(/\nbroken .* FAILED: there is no database\none at 32 .* met\n/);
});

test("keeps a complete run of a clean commit, with every round", async () => {
  await using run = await openRun();
  await run.bench("", [costing("one", [60, 70, 80.12345]), broken]);
  expect(await readdir(run.directory)).toEqual(["2026-11-21-abc1234.json"]);
  const record = JSON.parse(await readFile(join(run.directory, "2026-11-21-abc1234.json"), "utf8"));
  const theirs = [{ cpu: 100 }, { cpu: 100 }, { cpu: 100 }];
  expect(record.benchmarks).toEqual([
    {
      name: "one",
      targets: [expect.objectContaining({ atMost: 0.8, met: true, ratio: { median: 0.7, min: 0.6, max: 0.8012 } })],
      tables: [{ connections: 32, rounds: { ours: [{ cpu: 60 }, { cpu: 70 }, { cpu: 80.12 }], theirs } }],
    },
    { name: "broken", failure: "there is no database", targets: [], tables: [] },
  ]);
});

test.each([
  ["--only one", "abc1234"],
  ["--rounds 1", "abc1234"],
  ["--seconds 1", "abc1234"],
  ["--connections 32", "abc1234"],
  ["", undefined],
])("keeps no run with the options '%s' at the commit %s", async (words, commit) => {
  await using run = await openRun();
  expect(await run.bench(words, [costing("one", [60])], async () => commit)).toBe(0);
  expect(await readdir(run.directory)).toEqual([]);
});

test("--only runs each benchmark of this name once, or all whose names begin with it", async () => {
  await using run = await openRun();
  const all = ["rest-list", "rest-mixed", "quota", "quota-hot"].map((name) => costing(name, [60]));
  await run.bench("--only quota --only rest --only rest-list", all);
  const names = [...run.printed().matchAll(/^(\S+): about/gm)].map(([, name]) => name);
  expect(names).toEqual(["rest-list", "rest-mixed", "quota"]);
});

test.each([
  ["--only nothing", "There is no benchmark nothing. There are: one, other."],
  ["--rounds 0", "--rounds must be a whole number"],
  ["--seconds 0.05", "--seconds must be a number"],
  ["--connections 1,", "--connections must be a whole number"],
  ["--quickly", "--quickly"],
])("refuses %s, with exit code 2", async (words, reason) => {
  await using run = await openRun();
  expect(await run.bench(words, [costing("one", [60]), costing("other", [60])])).toBe(2);
  expect(run.printed()).toContain(reason);
});

/** Our server has these costs; its peer costs 100 in every round. */
function costing(name: string, ours: readonly number[]): Benchmark {
  return {
    name,
    summary: `about ${name}`,
    measures: { cpu: { label: "CPU us", digits: 0 } },
    targets: [{ connections: 32, measure: "cpu", of: "ours", against: "theirs", atMost: 0.8 }],
    defaults: { rounds: ours.length, seconds: 1, connections: [32] },
    run: async ({ connections }) =>
      connections.map((number) => ({
        connections: number,
        rounds: new Map([
          ["ours", ours.map((cpu) => ({ cpu }))],
          ["theirs", ours.map(() => ({ cpu: 100 }))],
        ]),
      })),
  };
}

async function openRun() {
  const directory = await openTemporaryDirectory();
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  return {
    directory: directory.path,
    printed: () => printed,
    bench(words: string, benchmarks: readonly Benchmark[], commit: BenchDeps["commit"] = async () => "abc1234") {
      printed = "";
      return runBench(words.split(" ").filter(Boolean), benchmarks, {
        print,
        printError: print,
        signal: new AbortController().signal,
        resultsDirectory: directory.path,
        commit,
        now: () => Date.parse("2026-11-21T12:00:00Z"),
      });
    },
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}
