import { expect, test } from "vitest";
import type { Comparable } from "./comparison.js";
import { compareRuns, formatChanges } from "./regression.js";
import type { BenchmarkRecord, RunRecord } from "./run-record.js";

const cpu = { measure: "cpu", of: "ours", against: "theirs" };

const benchmark: Comparable = {
  name: "work",
  summary: "",
  measures: {
    cpu: { label: "CPU us", digits: 0, better: "lower" },
    speed: { label: "per second", digits: 0, better: "higher" },
  },
  words: { contestant: "server", callers: "connections" },
  rounds: 1,
  connections: [32],
  goals: [],
  ratios: [cpu],
  compare: () => Promise.reject(new Error("not run")),
};

type Interval = readonly [min: number, median: number, max: number];

function recordOf([min, median, max]: Interval, measure = "cpu"): BenchmarkRecord {
  return { name: "work", tables: [], goals: [], ratios: [{ ...cpu, measure, median, min, max, rounds: [] }] };
}

function verdict(before: Interval, now: Interval, measure?: string): string | undefined {
  return compareRuns([benchmark], [recordOf(now, measure)], [recordOf(before, measure)])[0]?.verdict;
}

const before: Interval = [0.9, 1, 1.02];

test.each<{ now: Interval; expected: string; because: string }>([
  { now: [1.03, 1.06, 1.1], expected: "worse", because: "above by 6 % and apart" },
  { now: [1.02, 1.06, 1.1], expected: "alike", because: "one round of each is the same" },
  { now: [1.03, 1.05, 1.1], expected: "alike", because: "apart, but only by 5 %" },
  { now: [0.8, 1.2, 1.5], expected: "alike", because: "the rounds of one lie around those of the other" },
  { now: [0.7, 0.8, 0.89], expected: "better", because: "below and apart" },
  { now: [0.86, 0.89, 0.9], expected: "alike", because: "below, but they touch" },
])("a cost of $now beside 0.9..1.02 is $expected: $because", ({ now, expected }) => {
  expect(verdict(before, now)).toBe(expected);
});

test("of what should be high, less is worse and more is better", () => {
  expect(verdict(before, [0.7, 0.8, 0.89], "speed")).toBe("worse");
  expect(verdict(before, [1.03, 1.06, 1.1], "speed")).toBe("better");
});

test.each<{ of: string; earlier: BenchmarkRecord[] }>([
  { of: "a benchmark that is new", earlier: [] },
  { of: "a benchmark that failed then", earlier: [{ name: "work", failure: "no database" }] },
  { of: "a peer that is new", earlier: [{ name: "work", tables: [], goals: [], ratios: [] }] },
])("the ratio of $of is new", ({ earlier }) => {
  expect(compareRuns([benchmark], [recordOf(before)], earlier)).toMatchObject([{ verdict: "new", before: undefined }]);
});

test("a benchmark that failed now has no ratios to compare", () => {
  expect(compareRuns([benchmark], [{ name: "work", failure: "no database" }], [recordOf(before)])).toEqual([]);
});

test("a regression is shown with both runs, the change, and where it was measured then", () => {
  const record: RunRecord = {
    format: 1,
    startedAt: "2026-11-21T12:00:00.000Z",
    minutes: 17,
    commit: { name: "65b8a8d", dirty: true },
    machine: { processor: "Some CPU", cores: 2, node: "20.19.0" },
    options: { seconds: 3 },
    benchmarks: [recordOf(before)],
  };
  const changes = compareRuns([benchmark], [recordOf([1.03, 1.1, 1.2])], record.benchmarks);
  const shown = formatChanges(changes, { file: "then.json", record });
  expect(shown).toMatch(/^Beside then\.json: 65b8a8d, changed, Node 20\.19\.0, 2 x Some CPU\n/);
  expect(shown).toMatch(
    /^work +CPU us +ours \/ theirs +1\.000 \(0\.900\.\.1\.020\) +1\.100 \(1\.030\.\.1\.200\) +\+10\.0 % +REGRESSION$/m,
  );
});
