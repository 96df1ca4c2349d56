import type { Stage } from "./stage.js";

/** One row of what must be survived: as data, so that a table of them reads like the promise it checks. */
export interface Scenario {
  /** What fails; `--only` chooses by it. */
  readonly group: string;
  readonly name: string;
  /** How the fault is caused. */
  readonly cause: string;
  readonly expected: string;
  /** Causes it under load and measures the row's own numbers. The oracles are counted afterwards, for every row alike. */
  run(stage: Stage): Promise<readonly Check[]>;
}

export interface RunOptions {
  /** How long a process is stopped where the row says so. */
  readonly stopSeconds: number;
}

/** One number of a row, and what it may be. */
export interface Check {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit: { readonly atMost: number } | { readonly exactly: number };
}

export function isMet({ measured, limit }: Check): boolean {
  return "atMost" in limit ? measured <= limit.atMost : measured === limit.exactly;
}

export function describeCheck(check: Check): string {
  const { what, measured, unit, limit } = check;
  const bound = "atMost" in limit ? `<= ${round(limit.atMost)}` : `= ${round(limit.exactly)}`;
  return `${isMet(check) ? "ok    " : "MISSED"} ${what}: ${round(measured)}${unit && ` ${unit}`} (${bound})`;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
