import type { Measured, Measures } from "./measure.js";
import { type Spread, spread } from "./statistics.js";

/** A measure of one contestant, as a multiple of another's where there is one, and how large or small it may be. */
export interface Goal<Measure extends string = string> {
  readonly measure: Measure;
  readonly of: string;
  readonly against?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

export interface Verdict extends Goal {
  /** Of the ratios within each round: what slows a whole round down cancels out. Without another, of the measure. */
  readonly ratio: Spread;
  readonly met: boolean;
}

export function judge(goal: Goal, rounds: ReadonlyMap<string, readonly Measured[]>): Verdict {
  const { measure, of, against, atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = goal;
  const valuesOf = (name: string) => (rounds.get(name) ?? []).map((round) => round[measure] ?? Number.NaN);
  const theirs = against === undefined ? undefined : valuesOf(against);
  const ratio = spread(valuesOf(of).map((value, index) => value / (theirs ? (theirs[index] ?? Number.NaN) : 1)));
  return { ...goal, ratio, met: ratio.median >= atLeast && ratio.median <= atMost };
}

export function describeVerdict({ measure, of, against, atLeast, atMost, ratio, met }: Verdict, all: Measures): string {
  const { label = measure, digits = 0 } = all[measure] ?? {};
  const show = (value: number, ratioDigits: number) => value.toFixed(against === undefined ? digits : ratioDigits);
  const measured = `${show(ratio.median, 3)} (${show(ratio.min, 3)}..${show(ratio.max, 3)})`;
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${show(atLeast, 2)}`]),
    ...(atMost === undefined ? [] : [`at most ${show(atMost, 2)}`]),
  ].join(", ");
  const subject = against === undefined ? of : `${of} / ${against}`;
  return `${label}, ${subject}: ${measured}; goal ${bounds}: ${met ? "met" : "MISSED"}`;
}
