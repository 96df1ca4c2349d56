import type { RoundsByContestant } from "./comparison.js";

/** A measure of one contestant as a multiple of another's. */
export interface Ratio<Measure extends string = string> {
  readonly measure: Measure;
  readonly of: string;
  readonly against: string;
}

/**
 * Within each round: what slows a whole round down cancels out. Without another, the measure itself. NaN in a round that
 * lacks one of them.
 */
export function valuesWithin(
  rounds: RoundsByContestant,
  { measure, of, against }: Omit<Ratio, "against"> & Partial<Ratio>,
): number[] {
  const valuesOf = (name: string) => (rounds.get(name) ?? []).map((round) => round[measure] ?? Number.NaN);
  if (against === undefined) return valuesOf(of);
  const theirs = valuesOf(against);
  return valuesOf(of).map((value, index) => value / (theirs[index] ?? Number.NaN));
}
