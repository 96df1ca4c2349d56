import { expect, it } from "vitest";
import { missed, percentile } from "./figures.js";
import { it as itWithFigures } from "./test-with-figures.js";

it.each([
  [{ atMost: 10 }, 10, []],
  [{ atMost: 10 }, 10.01, ["MISSED p99: 10 ms (<= 10)"]],
  [{ atMost: 10 }, Number.NaN, ["MISSED p99: NaN ms (<= 10)"]],
  [{ atLeast: 10 }, 10, []],
  [{ atLeast: 10 }, 9.9, ["MISSED p99: 9.9 ms (>= 10)"]],
  [{ exactly: 0 }, 0, []],
  [{ exactly: 0 }, 1, ["MISSED p99: 1 ms (= 0)"]],
])("compares with the limit %o: %d", (limit, measured, lines) => {
  expect(missed([{ what: "p99", measured, unit: "ms", limit }])).toEqual(lines);
});

itWithFigures.fails("fails a test that misses a limit", ({ figures }) => {
  figures.atMost(50, "answers, p99", 51, "ms");
  figures.exactly(0, "lost creates", 0);
});

it("takes the nearest rank as a percentile", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 50), percentile(values, 99), percentile([7], 99)]).toEqual([100, 198, 7]);
});
