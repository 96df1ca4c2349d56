import type { Outcome } from "./outcome.js";

/** One way in which a store can grow, and what must not grow with it. */
export interface Part {
  readonly name: PartName;
  readonly summary: string;
  run(options: GrowthOptions, deps: PartDeps): Promise<PartResult>;
}

export const partNames = ["pages", "rows", "soak", "idle"] as const;

type PartName = (typeof partNames)[number];

export interface GrowthOptions {
  /** How often each case is measured, once more before to warm up, and how long each time. */
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** The page that is compared with the first. */
  readonly page: number;
  /** In the largest table. */
  readonly rows: number;
  readonly soakSeconds: number;
  /** What a service is made to keep of every request, to see it found. */
  readonly leakBytes: number;
  readonly idleConnections: number;
  readonly holdSeconds: number;
}

export interface PartDeps {
  /** Told what happens, a line at a time. */
  readonly progress: (line: string) => void;
  /** Stops everything; the part then rejects. */
  readonly signal: AbortSignal;
}

export interface PartResult {
  /** A heading, then a row for each case. */
  readonly rows: readonly (readonly string[])[];
  /** What a reader of the rows has to know. */
  readonly notes: readonly string[];
  readonly outcomes: readonly Outcome[];
  /** Every single measurement, for programs. */
  readonly details: unknown;
}
