import type { Table, Target } from "./benchmark.js";

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

interface Limit extends Omit<Target, "stretch"> {
  /** True for the second limit of a target. */
  readonly isStretch?: true;
}

export interface Verdict extends Limit {
  /** The spread of the ratios within each round; of the measure itself where the target has no peer. */
  readonly ratio: Spread;
  readonly met: boolean;
}

/** Judges the targets whose number of connections was measured. */
export function judgeTargets(targets: readonly Target[], tables: readonly Table[]): Verdict[] {
  return targets.flatMap(({ stretch, ...target }) => {
    const { connections } = target;
    const table = tables.find((each) => connections === undefined || connections === each.connections);
    if (table === undefined) return [];
    const limits: Limit[] = [target];
    if (stretch !== undefined) limits.push({ ...target, atMost: stretch, isStretch: true });
    return limits.map((limit) => {
      const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = limit;
      const ratio = spreadOf(limit, table.rounds);
      // A ratio that is not a number meets no limit.
      return { ...limit, ratio, met: ratio.median >= atLeast && ratio.median <= atMost };
    });
  });
}

/** The spread of a measure; with a peer, of the ratios within each round: a slow machine slows both servers of a round. */
export function spreadOf({ measure, of, against }: Target, rounds: Table["rounds"]): Spread {
  const values = (name: string) => (rounds[name] ?? []).map((round) => round[measure] ?? Number.NaN);
  const ours = values(of);
  const theirs = against === undefined ? ours.map(() => 1) : values(against);
  const sorted = ours.map((value, round) => value / (theirs[round] ?? Number.NaN)).toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const below = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const above = sorted[Math.floor(middle)] ?? Number.NaN;
  return { median: (below + above) / 2, min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN };
}
