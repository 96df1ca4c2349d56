import type { Verdict } from "./goal.js";
import type { Measured, Measures } from "./measure.js";

/** What the command line runs by name. */
export interface Comparable {
  readonly name: string;
  readonly summary: string;
  readonly measures: Measures;
  /** What the report calls a contestant and those that keep it busy. */
  readonly words: { readonly contestant: string; readonly callers: string };
  readonly defaultConnections?: number;
  compare(options: CompareOptions, deps: CompareDeps): Promise<Comparison>;
}

export interface CompareOptions {
  readonly rounds: number;
  /** How long each contestant is loaded in each round, and once before, to warm up. */
  readonly seconds: number;
  readonly connections: number;
  /** Where to write a CPU profile of each contestant, taken in a round of its own at the end. */
  readonly profileDirectory?: string | undefined;
}

export interface CompareDeps {
  /** Told what happens, a line at a time. */
  readonly progress: (line: string) => void;
  /** Stops everything; the comparison then rejects. */
  readonly signal: AbortSignal;
}

export interface Comparison {
  readonly rounds: ReadonlyMap<string, readonly Measured[]>;
  readonly verdicts: readonly Verdict[];
}
