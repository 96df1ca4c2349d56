import { it } from "./test-with-figures.js";

it("passes a test within its limits", ({ figures }) => {
  figures.atMost(50, "answers, p99", 50, "ms");
  figures.exactly(0, "lost creates", 0);
});

it.fails("fails a test that misses a limit", ({ figures }) => {
  figures.atMost(50, "answers, p99", 51, "ms");
  figures.exactly(0, "lost creates", 0);
});
