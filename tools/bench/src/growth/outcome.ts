import type { Spread } from "../statistics.js";

/** What was to be shown, what was measured, and whether that is good enough. */
export interface Outcome {
  readonly what: string;
  readonly measured: string;
  readonly goal: string;
  readonly met: boolean;
}

/** A ratio must be a number to meet anything. */
export function atMost(limit: number, what: string, { median, min, max }: Spread): Outcome {
  const measured = `${median.toFixed(3)} (${min.toFixed(3)}..${max.toFixed(3)})`;
  return { what, measured, goal: `at most ${limit.toFixed(2)}`, met: median <= limit };
}

export function exactly(expected: number, what: string, count: number): Outcome {
  return { what, measured: count.toLocaleString("en"), goal: expected.toLocaleString("en"), met: count === expected };
}
