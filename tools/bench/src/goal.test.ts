import { expect, test } from "vitest";
import type { Comparable } from "./comparison.js";
import { type Goal, judge, judgeAll } from "./goal.js";
import type { Measured } from "./measure.js";

const goal: Goal = { measure: "cpu", of: "ours", against: "theirs", atMost: 0.8 };

function rounds(...values: number[]): Measured[] {
  return values.map((cpu) => ({ cpu }));
}

function oneRound(ours: number): Map<string, Measured[]> {
  return new Map([
    ["ours", rounds(ours)],
    ["theirs", rounds(100)],
  ]);
}

test("a goal compares within each round, so that a slow one does not count double", () => {
  const measured = new Map([
    ["ours", rounds(50, 700, 60)],
    ["theirs", rounds(100, 1000, 100)],
  ]);
  expect(judge(goal, measured).ratio).toEqual({ median: 0.6, min: 0.5, max: 0.7 });
});

test.each([
  { ours: 79, met: true },
  { ours: 80, met: true },
  { ours: 81, met: false },
])("$ours of 100 against a goal of 0.8 is met: $met", ({ ours, met }) => {
  expect(judge(goal, oneRound(ours)).met).toBe(met);
});

test("a goal of a server that was not measured is missed", () => {
  expect(judge(goal, new Map([["ours", rounds(1)]])).met).toBe(false);
});

test.each([
  { ours: 129, met: false },
  { ours: 130, met: true },
  { ours: 131, met: true },
])("$ours of 100 against a goal of at least 1.3 is met: $met", ({ ours, met }) => {
  const atLeast: Goal = { measure: "cpu", of: "ours", against: "theirs", atLeast: 1.3 };
  expect(judge(atLeast, oneRound(ours)).met).toBe(met);
});

test("a goal without another is about the measure itself", () => {
  const alone: Goal = { measure: "cpu", of: "ours", atMost: 250 };
  expect(judge(alone, new Map([["ours", rounds(96, 90, 104)]]))).toMatchObject({
    met: true,
    ratio: { median: 96, min: 90, max: 104 },
  });
});

test("goals are judged at the benchmark's own number of callers, or at that of the goal, and nowhere else", () => {
  const benchmark: Comparable = {
    name: "work",
    summary: "",
    measures: {},
    words: { contestant: "server", callers: "connections" },
    rounds: 1,
    connections: [512, 32],
    goals: [goal, { ...goal, connections: 32 }],
    ratios: [],
    compare: () => Promise.reject(new Error("not run")),
  };
  const tables = [
    { connections: 1, rounds: oneRound(10) },
    { connections: 32, rounds: oneRound(20) },
    { connections: 512, rounds: oneRound(90) },
  ];
  const medians = (count: number) => judgeAll(benchmark, tables.slice(0, count)).map(({ ratio }) => ratio.median);
  expect(medians(3)).toEqual([0.9, 0.2]);
  expect(medians(2)).toEqual([0.2]);
  expect(medians(1)).toEqual([]);
});
