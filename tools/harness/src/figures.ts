/** A measured number with its limit, as text. */
export interface Figure {
  readonly what: string;
  readonly measured: string;
  readonly limit: string;
  readonly isMet: boolean;
}

export function formatFigures(figures: readonly Figure[]): string {
  return formatTable(
    figures.map(({ what, measured, limit, isMet }) => [isMet ? "ok" : "MISSED", `${what}:`, measured, `(${limit})`]),
  );
}

/** Four digits, and all digits of a count. */
export function rounded(number: number): number {
  return Math.abs(number) < 1_000 ? Number(number.toPrecision(4)) : Math.round(number);
}

export function formatTable(rows: readonly (readonly string[])[]): string {
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widthOf(column)));
    return cells.join("  ").trimEnd();
  });
  return lines.join("\n");
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank); NaN for no values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}
