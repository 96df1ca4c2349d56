import { expect, it } from "vitest";
import { atLeast, atMost, exactly, missed } from "./figures.js";

it.each([
  [atMost(10, "p99", 10, "ms"), []],
  [atMost(10, "p99", 10.01, "ms"), ["MISSED p99: 10 ms (<= 10)"]],
  [atLeast(10, "pets", 10), []],
  [atLeast(10, "pets", 9.9), ["MISSED pets: 9.9 (>= 10)"]],
  [exactly(0, "lost", 0), []],
  [exactly(0, "lost", 1), ["MISSED lost: 1 (= 0)"]],
  [atMost(10, "p99", Number.NaN), ["MISSED p99: NaN (<= 10)"]],
  [atLeast(10, "pets", Number.NaN), ["MISSED pets: NaN (>= 10)"]],
])("compares %o with its limit", (figure, lines) => {
  expect(missed([figure])).toEqual(lines);
});
