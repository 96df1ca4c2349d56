import type { Comparable, Comparison } from "./comparison.js";
import { judgeAll, type Verdict } from "./goal.js";

/** What became of one benchmark of a run. */
export type Outcome =
  | {
      readonly kind: "measured";
      readonly benchmark: Comparable;
      readonly comparison: Comparison;
      readonly verdicts: readonly Verdict[];
    }
  /** It could not be run to its end. */
  | { readonly kind: "failed"; readonly benchmark: Comparable; readonly reason: string };

export function measured(benchmark: Comparable, comparison: Comparison): Outcome {
  return { kind: "measured", benchmark, comparison, verdicts: judgeAll(benchmark, comparison) };
}

/** Whether it ran, and missed nothing that counts. */
export function isGood(outcome: Outcome): boolean {
  return outcome.kind === "measured" && outcome.verdicts.every(({ met, uncounted }) => met || uncounted !== undefined);
}
