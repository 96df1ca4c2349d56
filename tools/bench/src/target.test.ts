import { expect, test } from "vitest";
import { judgeTargets } from "./target.js";

const ratio = { measure: "cpu", of: "ours", against: "theirs" };

test.each([
  { target: { ...ratio, atMost: 0.8 }, ours: [80], theirs: [100], median: 0.8, met: true },
  { target: { ...ratio, atMost: 0.8 }, ours: [81], theirs: [100], median: 0.81, met: false },
  { target: { ...ratio, atLeast: 0.8 }, ours: [80], theirs: [100], median: 0.8, met: true },
  { target: { ...ratio, atLeast: 0.8 }, ours: [79], theirs: [100], median: 0.79, met: false },
  // It divides within each round, so a slow round does not count twice.
  { target: { ...ratio, atMost: 0.6 }, ours: [50, 700, 60], theirs: [100, 1000, 100], median: 0.6, met: true },
  // Without a peer it limits the measure itself. The median of an even number of rounds is between the middle two.
  { target: { measure: "cpu", of: "ours", atMost: 92 }, ours: [96, 90, 104, 88], theirs: [], median: 93, met: false },
  // The peer was not measured.
  { target: { ...ratio, atMost: 0.8 }, ours: [1], theirs: [], median: Number.NaN, met: false },
])("$ours against $theirs has the median $median and meets its target: $met", ({ ours, theirs, ...row }) => {
  const measured = (values: readonly number[]) => values.map((cpu) => ({ cpu }));
  const rounds = { ours: measured(ours), theirs: measured(theirs) };
  const verdicts = judgeTargets([row.target], [{ connections: 1, rounds }]);
  expect(verdicts).toMatchObject([{ ratio: { median: row.median }, met: row.met }]);
});
