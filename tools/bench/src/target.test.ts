import { expect, test } from "vitest";
import type { Target } from "./benchmark.js";
import { judge, percentile, spread } from "./target.js";

const target: Target = { measure: "cpu", of: "ours", against: "theirs", atMost: 0.8 };

test("divides within each round, so that a slow round does not count twice", () => {
  const rounds = roundsOf({ ours: [50, 700, 60], theirs: [100, 1000, 100] });
  expect(judge(target, rounds).ratio).toEqual({ median: 0.6, min: 0.5, max: 0.7 });
});

test.each([
  { limit: { atMost: 0.8 }, ours: 80, met: true },
  { limit: { atMost: 0.8 }, ours: 81, met: false },
  { limit: { atLeast: 0.8 }, ours: 80, met: true },
  { limit: { atLeast: 0.8 }, ours: 79, met: false },
])("a ratio of $ours to 100 with $limit is met: $met", ({ limit, ours, met }) => {
  const { atMost: _, ...ratio } = target;
  expect(judge({ ...ratio, ...limit }, roundsOf({ ours: [ours], theirs: [100] })).met).toBe(met);
});

test("a target without a peer limits the measure itself", () => {
  const rounds = roundsOf({ ours: [96, 90, 104] });
  expect(judge({ measure: "cpu", of: "ours", atMost: 96 }, rounds)).toMatchObject({ met: true, ratio: { median: 96 } });
});

test("a server that was not measured meets no target", () => {
  expect(judge(target, roundsOf({ ours: [1] })).met).toBe(false);
  expect(judge(target, roundsOf({ ours: [], theirs: [] })).met).toBe(false);
});

test("the median of an even number of values lies between the middle two", () => {
  expect(spread([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
});

test("a percentile is the nearest rank", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 50), percentile(values, 99), percentile([7], 99)]).toEqual([100, 198, 7]);
  expect(percentile([], 50)).toBeNaN();
});

function roundsOf(values: Readonly<Record<string, readonly number[]>>) {
  return new Map(Object.entries(values).map(([name, all]) => [name, all.map((cpu) => ({ cpu }))]));
}
