import type { Reporter, TestCase } from "vitest/node";
import { formatFigures } from "./figures.js";
import type {} from "./test-with-figures.js";

/** Prints the figures of each test with their limits, and why a test was skipped. */
export const figureReporter: Reporter = {
  onTestCaseResult(test) {
    const result = test.result();
    if (result.state === "skipped" && !isFilteredOut(test)) print(`   Skipped: ${test.fullName}: ${result.note}`);
    const { figures = [] } = test.meta();
    if (figures.length > 0) print(formatFigures(figures).replaceAll(/^/gm, "    "));
  },
};

/** The name pattern has left it out. A test that skips itself has a note. */
export function isFilteredOut(test: TestCase): boolean {
  const result = test.result();
  return result.state === "skipped" && result.note === undefined;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
