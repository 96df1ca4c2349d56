import type { Oracles } from "./oracles.js";
import { type Check, describeCheck, isMet, type Scenario } from "./scenario.js";

/** A row that was played, that could not be, or that this machine has no way to play. */
export type Row = Measured | Broken | Skipped;

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

interface Skipped {
  readonly scenario: Scenario;
  readonly seconds: number;
  /** Why. */
  readonly skipped: string;
}

const minutesAtMost = 30;

const oracleNames = ["lost", "dup", "over", "hdr", "hang", "leak", "failed"] as const;

export function isPassed(row: Row): boolean {
  if (!("checks" in row)) return false;
  const counted = oracleNames.filter((name) => name !== "failed" || row.scenario.mayFail !== true);
  return row.checks.every(isMet) && counted.every((name) => row.oracles[name] === 0);
}

/** A row that is skipped has shown nothing: it is neither passed nor failed. */
export function isFailed(row: Row): boolean {
  return !("skipped" in row) && !isPassed(row);
}

function resultOf(row: Row): string {
  if ("skipped" in row) return "skipped";
  return isPassed(row) ? "passed" : "FAILED";
}

/** What is told when the row has ended. */
export function formatRow(row: Row): string {
  const heading = `  ${resultOf(row)} in ${row.seconds.toFixed(0)} s`;
  return [heading, ...detailsOf(row)].join("\n");
}

/** What a run has shown. */
export interface Run {
  readonly rows: readonly Row[];
  readonly seconds: number;
  /** Whether it was to play every row: then how long it took is a number that counts. */
  readonly isOfEveryRow: boolean;
}

export function isRunPassed(run: Run): boolean {
  return !run.rows.some(isFailed) && (!run.isOfEveryRow || isMet(durationOf(run)));
}

function durationOf({ seconds }: Run): Check {
  return { what: "the whole run", measured: seconds / 60, unit: "minutes", limit: { atMost: minutesAtMost } };
}

/** A line for each row, its own numbers below it; how long all took. */
export function formatReport(run: Run): string {
  const { rows } = run;
  const lines = [
    ["row", "seconds", "requests", ...oracleNames, "result"],
    ...rows.map((row) => [
      row.scenario.name,
      row.seconds.toFixed(0),
      ...("checks" in row
        ? [`${row.requests}`, ...oracleNames.map((name) => `${row.oracles[name]}`)]
        : Array(8).fill("-")),
      resultOf(row),
    ]),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const [head = "", ...body] = lines.map((line) =>
    line
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const table = [head, ...body.flatMap((line, index) => [line, ...detailsOf(rows[index])])];
  return [
    ...table,
    "",
    run.isOfEveryRow ? describeCheck(durationOf(run)) : `these rows: ${run.seconds.toFixed(0)} s`,
  ].join("\n");
}

function detailsOf(row: Row | undefined): string[] {
  if (row === undefined) return [];
  if ("error" in row) return [`    ${row.error}`];
  if ("skipped" in row) return [`    ${row.skipped}`];
  return [...row.checks.map(describeCheck), ...row.failures.map((failure) => `failed: ${failure}`)].map(
    (line) => `    ${line}`,
  );
}

/** The same for programs. */
export function reportJson(run: Run): string {
  const rows = run.rows.map(({ scenario: { group, name, cause, expected }, ...row }) => ({
    group,
    name,
    cause,
    expected,
    ...row,
  }));
  const minutes = run.seconds / 60;
  return `${JSON.stringify({ passed: isRunPassed(run), minutes, node: process.versions.node, rows }, null, 2)}\n`;
}
