/** One metric as Prometheus sees it, read only when it is scraped. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  samples(): readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Where it differs from the family's: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly metricName?: string;
}
