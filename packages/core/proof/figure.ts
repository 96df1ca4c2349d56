import { formatTable } from "@petstore/harness/figures";

/** One promise of the quota, with the required and the measured value. */
export interface Figure {
  readonly figure: string;
  readonly required: string;
  readonly measured: string;
  readonly isMet: boolean;
}

/** The tests of one kind of promise. */
export interface Suite {
  readonly name: string;
  readonly summary: string;
  run(context: SuiteContext): Promise<readonly Figure[]>;
}

export interface SuiteContext {
  /** Seeds every random choice, so that a run can be repeated. */
  readonly seed: number;
  print(text: string): void;
  progress(line: string): void;
}

export function figureTable(figures: readonly Figure[]): string {
  return formatTable([
    ["figure", "required", "measured", ""],
    ...figures.map(({ figure, required, measured, isMet }) => [figure, required, measured, isMet ? "ok" : "FAILED"]),
  ]);
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}
