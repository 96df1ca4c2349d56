import { expect, test } from "vitest";
import type { Target } from "./benchmark.js";
import { judgeTargets, percentile } from "./target.js";

const ratio = { measure: "cpu", of: "ours", against: "theirs" };

test.each<{ name: string; target: Target; ours: number[]; theirs?: number[]; median: number; met: boolean }>([
  { name: "at most, met", target: { ...ratio, atMost: 0.8 }, ours: [80], theirs: [100], median: 0.8, met: true },
  { name: "at most, missed", target: { ...ratio, atMost: 0.8 }, ours: [81], theirs: [100], median: 0.81, met: false },
  { name: "at least, met", target: { ...ratio, atLeast: 0.8 }, ours: [80], theirs: [100], median: 0.8, met: true },
  { name: "at least, missed", target: { ...ratio, atLeast: 0.8 }, ours: [79], theirs: [100], median: 0.79, met: false },
  {
    name: "ratios within each round, so that a slow round does not count twice",
    target: { ...ratio, atMost: 0.6 },
    ours: [50, 700, 60],
    theirs: [100, 1000, 100],
    median: 0.6,
    met: true,
  },
  {
    name: "a measure without a peer, and the middle of an even number of rounds",
    target: { measure: "cpu", of: "ours", atMost: 92 },
    ours: [96, 90, 104, 88],
    median: 93,
    met: false,
  },
  {
    name: "a server that was not measured",
    target: { ...ratio, atMost: 0.8 },
    ours: [1],
    median: Number.NaN,
    met: false,
  },
])("judges $name", ({ target, ours, theirs = [], median, met }) => {
  const measured = (values: readonly number[]) => values.map((cpu) => ({ cpu }));
  const rounds = new Map([
    ["ours", measured(ours)],
    ["theirs", measured(theirs)],
  ]);
  expect(judgeTargets([target], [{ connections: 1, rounds }])).toMatchObject([{ ratio: { median }, met }]);
});

test("a percentile is the nearest rank", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 50), percentile(values, 99), percentile([7], 99)]).toEqual([100, 198, 7]);
});
