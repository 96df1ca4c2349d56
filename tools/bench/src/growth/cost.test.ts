import { expect, test } from "vitest";
import { spread } from "../statistics.js";
import { type Cost, ratios } from "./cost.js";
import { atMost, exactly } from "./outcome.js";

const costs = new Map([
  ["first", [10, 40, 20].map(costOf)],
  ["far", [11, 42, 30].map(costOf)],
]);

test("a ratio is one of each round, so that a slow round does not count twice", () => {
  expect(ratios(costs, "far", "first", "microseconds")).toEqual([1.1, 1.05, 1.5]);
});

test("a ratio to what was not measured is no number, and meets no goal", () => {
  const none = ratios(costs, "far", "nothing", "microseconds");
  expect(atMost(1.1, "far / nothing", spread(none)).met).toBe(false);
});

test("a goal is met by its median, and up to the number it names", () => {
  expect(atMost(1.1, "far / first", spread([1.5, 1.1, 1.05]))).toEqual({
    what: "far / first",
    measured: "1.100 (1.050..1.500)",
    goal: "at most 1.10",
    met: true,
  });
  expect(atMost(1.1, "far / first", spread([1.11])).met).toBe(false);
});

test("a count is met by that number alone", () => {
  expect([9_999, 10_000].map((count) => exactly(10_000, "open", count).met)).toEqual([false, true]);
});

function costOf(microseconds: number): Cost {
  return { requestsPerSecond: 1, p50Ms: 1, serviceMicroseconds: microseconds, postgresMicroseconds: 0, microseconds };
}
