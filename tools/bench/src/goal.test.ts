import { expect, test } from "vitest";
import { describeVerdict, type Goal, judge } from "./goal.js";
import type { Round } from "./round.js";

const goal: Goal = { measure: "cpuMicroseconds", of: "ours", against: "theirs", atMost: 0.8 };

function rounds(...cpuMicroseconds: number[]): Round[] {
  return cpuMicroseconds.map((value) => ({
    requestsPerSecond: 1,
    p50Ms: 1,
    p99Ms: 1,
    rssMebibytes: 1,
    cpuMicroseconds: value,
  }));
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
  const measured = new Map([
    ["ours", rounds(ours)],
    ["theirs", rounds(100)],
  ]);
  expect(judge(goal, measured).met).toBe(met);
});

test("a goal of a server that was not measured is missed", () => {
  expect(judge(goal, new Map([["ours", rounds(1)]])).met).toBe(false);
});

test.each([
  { ours: 129, met: false },
  { ours: 130, met: true },
  { ours: 131, met: true },
])("$ours of 100 against a goal of at least 1.3 is met: $met", ({ ours, met }) => {
  const measured = new Map([
    ["ours", rounds(ours)],
    ["theirs", rounds(100)],
  ]);
  const atLeast: Goal = { measure: "cpuMicroseconds", of: "ours", against: "theirs", atLeast: 1.3 };
  expect(judge(atLeast, measured).met).toBe(met);
});

test("a goal without another is about the measure itself, and says so in its digits", () => {
  const alone: Goal = { measure: "cpuMicroseconds", of: "ours", atMost: 250 };
  const verdict = judge(alone, new Map([["ours", rounds(96, 90, 104)]]));
  expect(verdict.met).toBe(true);
  expect(describeVerdict(verdict, { cpuMicroseconds: { label: "CPU us", digits: 0 } })).toBe(
    "CPU us, ours: 96 (90..104); goal at most 250: met",
  );
});
