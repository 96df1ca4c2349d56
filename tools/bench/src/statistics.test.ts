import { expect, test } from "vitest";
import { percentile, spread } from "./statistics.js";

test.each([
  { values: [3, 1, 2], expected: { median: 2, min: 1, max: 3 } },
  { values: [4, 1, 3, 2], expected: { median: 2.5, min: 1, max: 4 } },
  { values: [7], expected: { median: 7, min: 7, max: 7 } },
  { values: [10, 9], expected: { median: 9.5, min: 9, max: 10 } },
  { values: [], expected: { median: Number.NaN, min: Number.NaN, max: Number.NaN } },
])("the spread of $values is $expected", ({ values, expected }) => {
  expect(spread(values)).toEqual(expected);
});

test.each([
  { percent: 0, expected: 1 },
  { percent: 50, expected: 50 },
  { percent: 99, expected: 99 },
  { percent: 99.5, expected: 100 },
  { percent: 100, expected: 100 },
])("percentile $percent of 1 to 100 in any order is $expected", ({ percent, expected }) => {
  const descending = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(descending, percent)).toBe(expected);
});

test("there is no percentile of nothing", () => {
  expect(percentile([], 50)).toBeNaN();
});
