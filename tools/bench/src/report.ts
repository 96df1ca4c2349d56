import { cpus } from "node:os";
import { formatTable, percentile, rounded } from "@petstore/harness/figures";
import type { Rounds, Target } from "./benchmark.js";

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The spread of a measure; with a peer, of the ratios within each round: a slow machine slows both servers of a round. */
export function spreadOf({ measure, of, against }: Target, rounds: Rounds): Spread {
  const values = (name: string) => (rounds[name] ?? []).map((round) => round[measure] ?? Number.NaN);
  const ours = values(of);
  const theirs = against === undefined ? ours.map(() => 1) : values(against);
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN));
  return { median: percentile(ratios, 50), min: percentile(ratios, 0), max: percentile(ratios, 100) };
}

export function formatRange({ min, max }: Spread): string {
  return `(${rounded(min)}..${rounded(max)})`;
}

/** A row for each server, and a column for each measure. */
export function formatRounds(rounds: Rounds): string {
  const measures = Object.keys(Object.values(rounds)[0]?.[0] ?? {});
  const rows = Object.keys(rounds).map((of) => {
    const spreads = measures.map((measure) => spreadOf({ measure, of }, rounds));
    return [of, ...spreads.map((spread) => `${rounded(spread.median)} ${formatRange(spread)}`)];
  });
  return formatTable([["median (min..max)", ...measures], ...rows]);
}

export function describeMachine(): string {
  return `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`;
}
