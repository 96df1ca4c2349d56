import { type TestAPI, test } from "vitest";
import { type Figure, type FigureLimit, missed } from "./figures.js";

declare module "vitest" {
  interface TaskMeta {
    figures?: Figure[];
  }
}

type KeepFigure = (limit: number, what: string, measured: number, unit?: string) => void;

/** Keeps the figures of a test for the report. A test that misses a limit goes on, and fails when it ends. */
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
    const keep = (limit: FigureLimit, what: string, measured: number, unit = "") =>
      void kept.push({ what, measured, unit, limit });
    await use({
      atMost: (atMost, ...figure) => keep({ atMost }, ...figure),
      atLeast: (atLeast, ...figure) => keep({ atLeast }, ...figure),
      exactly: (exactly, ...figure) => keep({ exactly }, ...figure),
      count: (exactly, what, all, matches) => keep({ exactly }, what, all.filter(matches).length),
    });
    const lines = missed(kept);
    if (lines.length > 0) throw new Error(lines.join("\n"));
  },
});
