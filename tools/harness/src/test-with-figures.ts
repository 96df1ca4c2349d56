import { type TestAPI, test } from "vitest";
import { atLeast, atMost, exactly, type Figure, missed } from "./figures.js";

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
  /** Exactly this number of them match. */
  count<One>(limit: number, what: string, all: readonly One[], matches: (one: One) => boolean): void;
}

/** A vitest test with the fixture `figures`. */
export const it: TestAPI<{ figures: Figures }> = test.extend<{ figures: Figures }>({
  figures: async ({ task }, use) => {
    const kept: Figure[] = [];
    task.meta.figures = kept;
    await use({
      atMost: (...figure) => void kept.push(atMost(...figure)),
      atLeast: (...figure) => void kept.push(atLeast(...figure)),
      exactly: (...figure) => void kept.push(exactly(...figure)),
      count: (limit, what, all, matches) => void kept.push(exactly(limit, what, all.filter(matches).length)),
    });
    const lines = missed(kept);
    if (lines.length > 0) throw new Error(lines.join("\n"));
  },
});
