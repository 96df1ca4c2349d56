import { type TestAPI, test } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** A line each: `ok     lost creates: 0 (= 0)`. */
    figures?: string[];
  }
}

type KeepFigure = (limit: number, what: string, measured: number, unit?: string) => void;

/**
 * Keeps the measured numbers of a test with their limits, for the report. A test that misses a limit goes on, and fails when
 * it ends. A missing measurement (NaN) misses every limit.
 */
export interface Figures {
  readonly atMost: KeepFigure;
  readonly atLeast: KeepFigure;
  readonly exactly: KeepFigure;
  /** Exactly this number of them match. */
  count<One>(limit: number, what: string, all: readonly One[], matches: (one: One) => boolean): void;
}

/** A vitest test with the fixture `figures`. */
export const it: TestAPI<{ figures: Figures }> = test.extend<{ figures: Figures }>({
  figures: async ({ task }, use) => {
    const lines: string[] = [];
    task.meta.figures = lines;

    function createKeep(sign: string, isMet: (measured: number, limit: number) => boolean): KeepFigure {
      return (limit, what, measured, unit = "") => {
        const verdict = isMet(measured, limit) ? "ok    " : "MISSED";
        lines.push(`${verdict} ${what}: ${rounded(measured)}${unit && ` ${unit}`} (${sign} ${rounded(limit)})`);
      };
    }

    const exactly = createKeep("=", (measured, limit) => measured === limit);
    await use({
      atMost: createKeep("<=", (measured, limit) => measured <= limit),
      atLeast: createKeep(">=", (measured, limit) => measured >= limit),
      exactly,
      count: (limit, what, all, matches) => exactly(limit, what, all.filter(matches).length),
    });
    const missed = lines.filter((line) => line.startsWith("MISSED"));
    if (missed.length > 0) throw new Error(missed.join("\n"));
  },
});

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
