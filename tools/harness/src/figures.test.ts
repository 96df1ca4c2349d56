import { describe, expect, it } from "vitest";
import { type Figure, formatFigures, percentile } from "./figures.js";
import { it as itWithFigures } from "./test-with-figures.js";

describe("figures", () => {
  let kept: readonly Figure[] | undefined;

  itWithFigures.fails("fail a test that misses a limit, at its end", ({ figures, task }) => {
    kept = task.meta.figures;
    figures.atMost(10, "p99", 10, "ms");
    figures.atMost(10, "p99", 10.014, "ms");
    figures.atMost(10, "p99", Number.NaN, "ms");
    figures.atLeast(10, "requests", 10);
    figures.atLeast(12_345, "requests", 12_344.4);
    figures.exactly(0, "lost creates", 0);
    figures.exactly(0, "lost creates", 1);
    figures.count(1, "odd numbers", [1, 2, 3], (number) => number % 2 === 1);
  });

  it("are a line each, with their limits", () => {
    expect(
      formatFigures(kept ?? [])
        .split("\n")
        .map((line) => line.replaceAll(/ +/g, " ")),
    ).toEqual([
      "ok p99: 10 ms (<= 10)",
      "MISSED p99: 10.01 ms (<= 10)",
      "MISSED p99: NaN ms (<= 10)",
      "ok requests: 10 (>= 10)",
      "MISSED requests: 12344 (>= 12345)",
      "ok lost creates: 0 (= 0)",
      "MISSED lost creates: 1 (= 0)",
      "MISSED odd numbers: 2 (= 1)",
    ]);
  });
});

it("takes the nearest rank as a percentile", () => {
  const values = Array.from({ length: 200 }, (_, index) => 200 - index);
  expect([percentile(values, 50), percentile(values, 99), percentile([7], 99)]).toEqual([100, 198, 7]);
});
