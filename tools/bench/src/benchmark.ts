/** A comparison that the command line runs by its name, with its targets. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  readonly measures: Measures;
  readonly targets: readonly Target[];
  readonly defaults: RunOptions;
  /** True where the number of connections is a part of the question. */
  readonly isFixed?: boolean;
  run(options: RunOptions, deps: RunDeps): Promise<Table[]>;
}

/** By name: the heading of a measure, and its digits after the point. */
export type Measures = Readonly<Record<string, { readonly label: string; readonly digits: number }>>;

/** The values of one round, by measure. */
export type Measured = Readonly<Record<string, number>>;

/** The rounds of each server or engine, at one number of connections. */
export interface Table {
  readonly connections: number;
  readonly rounds: Readonly<Record<string, readonly Measured[]>>;
}

/** A limit for a measure of one server, or for its ratio to the same measure of a peer. */
export interface Target {
  readonly measure: string;
  readonly of: string;
  readonly against?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** A second, lower limit. Missing it does not fail the run. */
  readonly stretch?: number;
  /** Undefined in a fixed benchmark, which has one table. */
  readonly connections?: number;
}

export interface RunOptions {
  readonly rounds: number;
  /** How long each server is loaded in each round. */
  readonly seconds: number;
  /** A table for each number. */
  readonly connections: readonly number[];
}

export interface RunDeps {
  /** Writes one line for each step to standard error. */
  progress(line: string): void;
  /** Stops everything; the run then rejects. */
  readonly signal: AbortSignal;
}

export const usual = { rounds: 7, seconds: 3 } as const;
