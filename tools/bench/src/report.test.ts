import { expect, test } from "vitest";
import { spreadOf } from "./report.js";

const ratio = { measure: "cpu", of: "ours", against: "theirs" };

test.each([
  { target: ratio, ours: [80], theirs: [100], median: 0.8 },
  // It divides within each round, so a slow round does not count twice.
  { target: ratio, ours: [50, 700, 60], theirs: [100, 1000, 100], median: 0.6 },
  // Without a peer it is the measure itself.
  { target: { measure: "cpu", of: "ours" }, ours: [96, 90, 104], theirs: [], median: 96 },
  // The peer was not measured. A figure that is not a number misses its limit.
  { target: ratio, ours: [1], theirs: [], median: Number.NaN },
])("the median of $ours against $theirs is $median", ({ target, ours, theirs, median }) => {
  const measured = (values: readonly number[]) => values.map((cpu) => ({ cpu }));
  expect(spreadOf(target, { ours: measured(ours), theirs: measured(theirs) })).toMatchObject({ median });
});
