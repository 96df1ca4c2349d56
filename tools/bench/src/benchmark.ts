/** A comparison, with its targets. */
export interface Benchmark {
  readonly name: string;
  readonly summary: string;
  readonly targets: readonly Target[];
  /** How often each server is measured, unless the command line says it. 6 by default: twice in each third. */
  readonly rounds?: number;
  /** It runs at each of these numbers of connections. Absent if it has no such number. */
  readonly connections?: readonly number[];
  run(options: RunOptions): Promise<Rounds>;
}

export type Rounds = Readonly<Record<string, readonly Measured[]>>;

/** The values of one round, by measure. */
export type Measured = Readonly<Record<string, number>>;

/** A limit for a measure of one server, or for its ratio to the same measure of a peer. */
export interface Target {
  readonly measure: string;
  readonly of: string;
  readonly against?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** Undefined if the benchmark has no such number. */
  readonly connections?: number;
}

export interface RunOptions {
  readonly rounds: number;
  /** How long each server is loaded in each round. */
  readonly seconds: number;
  /** How many connections or callers at once. */
  readonly connections: number;
}
