/** How a measure is shown, its heading and its digits after the point, and which way is good. */
interface MeasureFormat {
  readonly label: string;
  readonly digits: number;
  readonly better: "lower" | "higher";
}

export type Measures = Readonly<Record<string, MeasureFormat>>;

/** What a round measured, by measure. NaN where a contestant has nothing to measure. */
export type Measured = Readonly<Record<string, number>>;
