import { type TestAPI, test } from "vitest";
import { type Figure, formatFigures, rounded } from "./figures.js";

declare module "vitest" {
  interface TaskMeta {
    figures?: readonly Figure[];
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
    const kept: Figure[] = [];
    task.meta.figures = kept;

    function createKeep(sign: string, isMet: (measured: number, limit: number) => boolean): KeepFigure {
      return (limit, what, measured, unit = "") => {
        const [value, limitText] = [`${rounded(measured)} ${unit}`.trim(), `${sign} ${rounded(limit)}`];
        kept.push({ what, measured: value, limit: limitText, isMet: isMet(measured, limit) });
      };
    }

    const exactly = createKeep("=", (measured, limit) => measured === limit);
    await use({
      atMost: createKeep("<=", (measured, limit) => measured <= limit),
      atLeast: createKeep(">=", (measured, limit) => measured >= limit),
      exactly,
      count: (limit, what, all, matches) => exactly(limit, what, all.filter(matches).length),
    });
    const missed = kept.filter(({ isMet }) => !isMet);
    if (missed.length > 0) throw new Error(formatFigures(missed));
  },
});
