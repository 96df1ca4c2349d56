import { expect, test } from "vitest";
import type { Comparable } from "./comparison.js";
import type { Goal } from "./goal.js";
import { formatGoals } from "./goals-table.js";
import { isGood, measured } from "./outcome.js";

const rounds = new Map([
  ["ours", [{ cpu: 60 }, { cpu: 50 }, { cpu: 70 }]],
  ["theirs", [{ cpu: 100 }, { cpu: 100 }, { cpu: 100 }]],
]);

function benchmarkOf(...goals: Goal[]): Comparable {
  return {
    name: "work",
    summary: "some work",
    measures: { cpu: { label: "CPU us", digits: 0, better: "lower" } },
    words: { contestant: "server", callers: "connections" },
    rounds: 3,
    connections: [32],
    goals,
    ratios: [],
    compare: () => Promise.reject(new Error("not run")),
  };
}

function outcomeOf(goal: Partial<Goal>, connections = 32) {
  const benchmark = benchmarkOf({ measure: "cpu", of: "ours", ...goal });
  return measured(benchmark, [{ connections, rounds }]);
}

const against = "theirs";

test.each([
  {
    goal: { against, atMost: 0.6 },
    shown: "work at 32  CPU us  ours / theirs  0.600 (0.500..0.700)  <= 0.60  met",
    good: true,
  },
  {
    goal: { against, atMost: 0.5 },
    shown: "work at 32  CPU us  ours / theirs  0.600 (0.500..0.700)  <= 0.50  MISSED",
    good: false,
  },
  {
    goal: { against, atLeast: 1.3 },
    shown: "work at 32  CPU us  ours / theirs  0.600 (0.500..0.700)  >= 1.30  MISSED",
    good: false,
  },
  { goal: { atMost: 60 }, shown: "work at 32  CPU us  ours  60 (50..70)  <= 60  met", good: true },
  {
    goal: { against, atMost: 0.45, uncounted: "stretch goal" as const },
    shown: "work at 32  CPU us  ours / theirs  0.600 (0.500..0.700)  <= 0.45  missed (stretch goal)",
    good: true,
  },
  {
    goal: { atMost: 60, uncounted: "information" as const },
    shown: "work at 32  CPU us  ours  60 (50..70)  <= 60  met (information)",
    good: true,
  },
])("«$shown» counts as good: $good", ({ goal, shown, good }) => {
  const outcome = outcomeOf(goal);
  expect(formatGoals([outcome]).split("\n")[1]?.replace(/ {3,}/g, "  ")).toBe(shown);
  expect(isGood(outcome)).toBe(good);
});

test("a benchmark that failed is a row with its reason, and not good", () => {
  const failed = { kind: "failed" as const, benchmark: benchmarkOf(), reason: "no database" };
  expect(formatGoals([outcomeOf({ against, atMost: 1 }), failed])).toMatch(/ met\nwork .* FAILED: no database$/);
  expect(isGood(failed)).toBe(false);
});

test("goals about a number of callers that was not measured are said not to be judged, and miss nothing", () => {
  const outcome = outcomeOf({ against, atMost: 0.1 }, 8);
  expect(formatGoals([outcome])).toBe("work: 1 of its goals not judged, which are about 32 connections.");
  expect(isGood(outcome)).toBe(true);
});

test("of goals about several numbers of callers, only those that were not measured are named", () => {
  const goal = { measure: "cpu", of: "ours", against, atMost: 0.6 };
  const benchmark = benchmarkOf(goal, { ...goal, connections: 64 });
  expect(formatGoals([measured(benchmark, [{ connections: 64, rounds }])])).toMatch(
    /\nwork at 64 .* met\nwork: 1 of its goals not judged, which are about 32 connections\.$/,
  );
});
