import type { Stage } from "./stage.js";

/** One row of what must be survived: as data, so that a table of them reads like the promise it checks. */
export interface Scenario {
  /** What fails; `--only` chooses by it, or by the name. */
  readonly group: string;
  readonly name: string;
  /** How the fault is caused. */
  readonly cause: string;
  readonly expected: string;
  /** Programs of the machine it cannot be caused without, by their names, which are also those of Debian's packages. */
  readonly needs?: readonly string[];
  /** Whether requests may fail while the fault lasts: which ones is then among the row's own numbers. */
  readonly mayFail?: true;
  /** The seconds of a minute in which it had better begin, because it waits for minutes to end. */
  readonly beginsBest?: { readonly from: number; readonly to: number };
  /** Causes it under load and measures the row's own numbers. The oracles are counted afterwards, for every row alike. */
  run(stage: Stage): Promise<readonly Check[]>;
}

/** Thrown by a row that this machine does not let cause its fault: it is skipped, and the report says why. */
export class NotPossibleHere extends Error {}

export interface RunOptions {
  /** How long a process is stopped where the row says so. */
  readonly stopSeconds: number;
}

/** One number of a row, and what it may be. */
export interface Check {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit: { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number };
}

export function isMet({ measured, limit }: Check): boolean {
  if ("atMost" in limit) return measured <= limit.atMost;
  return "atLeast" in limit ? measured >= limit.atLeast : measured === limit.exactly;
}

export function describeCheck(check: Check): string {
  const { what, measured, unit, limit } = check;
  return `${isMet(check) ? "ok    " : "MISSED"} ${what}: ${round(measured)}${unit && ` ${unit}`} (${describeLimit(limit)})`;
}

function describeLimit(limit: Check["limit"]): string {
  if ("atMost" in limit) return `<= ${round(limit.atMost)}`;
  return "atLeast" in limit ? `>= ${round(limit.atLeast)}` : `= ${round(limit.exactly)}`;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
