/** A measured number with its limit. */
export interface Figure {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit: FigureLimit;
}

export type FigureLimit = { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number };

/** A missing measurement (NaN) never meets its limit. */
export function isMet({ measured, limit }: Figure): boolean {
  if ("atMost" in limit) return measured <= limit.atMost;
  return "atLeast" in limit ? measured >= limit.atLeast : measured === limit.exactly;
}

/** The figures that miss their limit, a line each: `expect(missed(figures)).toEqual([])`. */
export function missed(figures: readonly Figure[]): string[] {
  return figures.filter((figure) => !isMet(figure)).map(describeFigure);
}

/** One line: `ok     lost creates: 0 (= 0)`. */
export function describeFigure(figure: Figure): string {
  const { what, measured, unit, limit } = figure;
  const measuredText = `${rounded(measured)}${unit && ` ${unit}`}`;
  return `${isMet(figure) ? "ok    " : "MISSED"} ${what}: ${measuredText} (${describeLimit(limit)})`;
}

/** Aligned columns. Cells of digits are aligned to the right. */
export function formatTable(rows: readonly (readonly (string | number)[])[]): string {
  const cells = rows.map((row) => row.map((cell) => `${cell}`));
  const columns = Math.max(0, ...cells.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        /^[\d.]+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return cells.map(line).join("\n");
}

/** The smallest value that at least `percent` of all values do not exceed (nearest rank); NaN for no values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

function describeLimit(limit: FigureLimit): string {
  if ("atMost" in limit) return `<= ${rounded(limit.atMost)}`;
  return "atLeast" in limit ? `>= ${rounded(limit.atLeast)}` : `= ${rounded(limit.exactly)}`;
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
