/** A measured number with its limit. */
export interface Figure {
  readonly what: string;
  readonly measured: number;
  readonly unit: string;
  readonly limit: { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number };
}

/** A missing measurement (NaN) never meets its limit. */
export function isMet({ measured, limit }: Figure): boolean {
  if ("atMost" in limit) return measured <= limit.atMost;
  return "atLeast" in limit ? measured >= limit.atLeast : measured === limit.exactly;
}

/** One line: `ok     lost creates: 0 (= 0)`. */
export function describeFigure(figure: Figure): string {
  const { what, measured, unit, limit } = figure;
  return `${isMet(figure) ? "ok    " : "MISSED"} ${what}: ${rounded(measured)}${unit && ` ${unit}`} (${describeLimit(limit)})`;
}

function describeLimit(limit: Figure["limit"]): string {
  if ("atMost" in limit) return `<= ${rounded(limit.atMost)}`;
  return "atLeast" in limit ? `>= ${rounded(limit.atLeast)}` : `= ${rounded(limit.exactly)}`;
}

function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
