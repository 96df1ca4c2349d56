// Not a test of this package: `reporter.test.ts` runs this file to see its report.
import { it } from "../src/it.js";

it("keeps its limits", ({ figures }) => {
  figures.atMost(50, "answers, p99", 12.34, "ms");
  figures.exactly(0, "lost creates", 0);
});

it("misses two limits", ({ figures }) => {
  figures.atMost(50, "answers, p99", 80, "ms");
  figures.atLeast(3, "restarts", 3);
  figures.atLeast(1, "requests", Number.NaN);
});

it("throws", () => {
  throw new Error("the service did not start");
});

it("needs a program", { tags: ["absent-program"] }, ({ figures }) => {
  figures.exactly(0, "lost creates", 0);
});
