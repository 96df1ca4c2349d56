import type { Goal } from "./goal.js";
import type { Measured, Measures } from "./measure.js";
import type { Ratio } from "./ratio.js";

/** What the command line runs by name. */
export interface Comparable {
  readonly name: string;
  readonly summary: string;
  readonly measures: Measures;
  /** What the report calls a contestant and those that keep it busy. */
  readonly words: { readonly contestant: string; readonly callers: string };
  /** How often each contestant is measured where nothing is said. */
  readonly rounds: number;
  /**
   * How many callers at once where nothing is said, a table each; the first is where goals are judged. Absent where the
   * numbers are part of what is measured.
   */
  readonly connections?: readonly [number, ...number[]];
  readonly goals: readonly Goal[];
  /** Ours beside peers, as it is kept from commit to commit. */
  readonly ratios: readonly Ratio[];
  compare(options: CompareOptions, deps: CompareDeps): Promise<Comparison>;
}

/** Of a benchmark that has no reason for others. */
export const usual = { rounds: 7, seconds: 3, connections: 32 } as const;

export interface CompareOptions {
  readonly rounds: number;
  /** How long each contestant is loaded in each round, and once before, to warm up. */
  readonly seconds: number;
  readonly connections: readonly number[];
  /** Where to write a CPU profile of each contestant, taken in a round of its own at the end. */
  readonly profileDirectory?: string | undefined;
}

export interface CompareDeps {
  /** Told what happens, a line at a time. */
  readonly progress: (line: string) => void;
  /** Stops everything; the comparison then rejects. */
  readonly signal: AbortSignal;
}

/** A table for each number of callers; a single one, without a number, where a benchmark has its own. */
export type Comparison = readonly ComparisonTable[];

export interface ComparisonTable {
  readonly connections?: number;
  readonly rounds: RoundsByContestant;
}

export type RoundsByContestant = ReadonlyMap<string, readonly Measured[]>;
