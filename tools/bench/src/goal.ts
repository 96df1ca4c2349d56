import type { Comparable, Comparison, RoundsByContestant } from "./comparison.js";
import { valuesWithin } from "./ratio.js";
import { type Spread, spread } from "./statistics.js";

/** A measure of one contestant, as a multiple of another's where there is one, and how large or small it may be. */
export interface Goal<Measure extends string = string> {
  readonly measure: Measure;
  readonly of: string;
  readonly against?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** At how many callers, where it is not the benchmark's own number. */
  readonly connections?: number;
  /** Why missing it is no failure: it is reached for, or it depends on the machine. */
  readonly uncounted?: "stretch goal" | "information";
}

export interface Verdict extends Goal {
  /** Of the ratios within each round; without another, of the measure. */
  readonly ratio: Spread;
  readonly met: boolean;
}

export function judge(goal: Goal, rounds: RoundsByContestant): Verdict {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = goal;
  const ratio = spread(valuesWithin(rounds, goal));
  return { ...goal, ratio, met: ratio.median >= atLeast && ratio.median <= atMost };
}

/** Every goal, at the number of callers that it is about; those whose number was not measured are left out. */
export function judgeAll(benchmark: Comparable, comparison: Comparison): Verdict[] {
  return benchmark.goals.flatMap((goal) => {
    const at = callersOf(benchmark, goal);
    const table = comparison.find((candidate) => candidate.connections === at);
    return table === undefined ? [] : [judge(goal, table.rounds)];
  });
}

/** How many callers a goal is about; undefined where their numbers are part of what is measured. */
export function callersOf({ connections }: Comparable, goal: Goal): number | undefined {
  return goal.connections ?? connections?.[0];
}
