import type { Oracles } from "./oracles.js";
import { type Check, describeCheck, isMet, type Scenario } from "./scenario.js";

/** A row that was played, or that could not be. */
export type Row = Measured | Broken;

interface Measured {
  readonly scenario: Scenario;
  readonly seconds: number;
  readonly requests: number;
  readonly checks: readonly Check[];
  readonly oracles: Oracles;
  /** What failed requests were answered, each answer once. */
  readonly failures: readonly string[];
}

interface Broken {
  readonly scenario: Scenario;
  readonly seconds: number;
  readonly error: string;
}

const oracleNames = ["lost", "dup", "over", "hdr", "hang", "leak", "failed"] as const;

export function isPassed(row: Row): boolean {
  return "checks" in row && row.checks.every(isMet) && oracleNames.every((name) => row.oracles[name] === 0);
}

/** What is told when the row has ended. */
export function formatRow(row: Row): string {
  const heading = `  ${isPassed(row) ? "passed" : "FAILED"} in ${row.seconds.toFixed(0)} s`;
  return [heading, ...detailsOf(row)].join("\n");
}

/** A line for each row, its own numbers below it. */
export function formatReport(rows: readonly Row[]): string {
  const lines = [
    ["row", "requests", ...oracleNames, "result"],
    ...rows.map((row) => [
      row.scenario.name,
      ...("checks" in row
        ? [`${row.requests}`, ...oracleNames.map((name) => `${row.oracles[name]}`)]
        : Array(8).fill("-")),
      isPassed(row) ? "passed" : "FAILED",
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const [head = "", ...body] = lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [head, ...body.flatMap((line, index) => [line, ...detailsOf(rows[index])])].join("\n");
}

function detailsOf(row: Row | undefined): string[] {
  if (row === undefined) return [];
  if ("error" in row) return [`    ${row.error}`];
  return [...row.checks.map(describeCheck), ...row.failures.map((failure) => `failed: ${failure}`)].map(
    (line) => `    ${line}`,
  );
}

/** The same for programs. */
export function reportJson(rows: readonly Row[]): string {
  const report = rows.map(({ scenario: { group, name, cause, expected }, ...row }) => ({
    group,
    name,
    cause,
    expected,
    ...row,
  }));
  return `${JSON.stringify({ passed: rows.every(isPassed), node: process.versions.node, rows: report }, null, 2)}\n`;
}
