import { type Measure, measures, type Round } from "./round.js";
import { type Spread, spread } from "./statistics.js";

/** A measure of one contestant as a multiple of another's, and how large it may be. */
export interface Goal {
  readonly measure: Measure;
  readonly of: string;
  readonly against: string;
  readonly atMost: number;
}

export interface Verdict extends Goal {
  /** Of the ratios within each round: what slows a whole round down cancels out. */
  readonly ratio: Spread;
  readonly met: boolean;
}

export function judge(goal: Goal, rounds: ReadonlyMap<string, readonly Round[]>): Verdict {
  const ours = rounds.get(goal.of) ?? [];
  const theirs = rounds.get(goal.against) ?? [];
  const ratio = spread(ours.map((round, index) => round[goal.measure] / (theirs[index]?.[goal.measure] ?? Number.NaN)));
  return { ...goal, ratio, met: ratio.median <= goal.atMost };
}

export function describeVerdict({ measure, of, against, atMost, ratio, met }: Verdict): string {
  const { median, min, max } = ratio;
  const measured = `${median.toFixed(3)} (${min.toFixed(3)}..${max.toFixed(3)})`;
  return `${measures[measure].label}, ${of} / ${against}: ${measured}; goal at most ${atMost.toFixed(2)}: ${met ? "met" : "MISSED"}`;
}
