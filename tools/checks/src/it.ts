import { type TestAPI, test } from "vitest";
import { describeFigure, type Figure, isMet } from "./figures.js";

declare module "vitest" {
  interface TaskMeta {
    figures?: Figure[];
  }
}

/** Keeps the figures of a test for the report. A test that misses a limit goes on, and fails when it ends. */
export interface Figures {
  atMost(limit: number, what: string, measured: number, unit?: string): void;
  atLeast(limit: number, what: string, measured: number, unit?: string): void;
  exactly(limit: number, what: string, measured: number, unit?: string): void;
}

/** A vitest test with the fixture `figures`. */
export const it: TestAPI<{ figures: Figures }> = test.extend<{ figures: Figures }>({
  figures: async ({ task }, use) => {
    const kept: Figure[] = [];
    task.meta.figures = kept;
    await use(figuresIn(kept));
    const missed = kept.filter((figure) => !isMet(figure));
    if (missed.length > 0) throw new Error(missed.map(describeFigure).join("\n"));
  },
});

function figuresIn(kept: Figure[]): Figures {
  return {
    atMost: (limit, what, measured, unit = "") => void kept.push({ what, measured, unit, limit: { atMost: limit } }),
    atLeast: (limit, what, measured, unit = "") => void kept.push({ what, measured, unit, limit: { atLeast: limit } }),
    exactly: (limit, what, measured, unit = "") => void kept.push({ what, measured, unit, limit: { exactly: limit } }),
  };
}
