import { expect, it } from "vitest";
import { atLeast, atMost, describeFigure, exactly, formatTable, isMet, missed } from "./figures.js";

it.each([
  [atMost(10, "a", 10), true],
  [atMost(10, "a", 10.01), false],
  [atLeast(10, "a", 10), true],
  [atLeast(10, "a", 9.99), false],
  [exactly(0, "a", 0), true],
  [exactly(0, "a", 1), false],
  [atMost(10, "a", Number.NaN), false],
  [atLeast(10, "a", Number.NaN), false],
])("compares %o with its limit", (figure, met) => {
  expect(isMet(figure)).toBe(met);
});

it("describes a figure, and lists those that miss their limit", () => {
  const [kept, slow] = [exactly(0, "lost creates", 0), atMost(250, "p99", 301.26, "ms")];
  expect(describeFigure(kept)).toBe("ok     lost creates: 0 (= 0)");
  expect(missed([kept, slow])).toEqual(["MISSED p99: 301.3 ms (<= 250)"]);
});

it("aligns text to the left and numbers to the right", () => {
  const rows = [
    ["server", "requests", ""],
    ["rest", 12, "ok"],
    ["graphql", 4.5, ""],
  ];
  expect(formatTable(rows)).toBe("server   requests\nrest           12  ok\ngraphql       4.5");
});
