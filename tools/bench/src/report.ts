import { cpus } from "node:os";
import type { Comparable, CompareOptions, Comparison } from "./comparison.js";
import { describeVerdict } from "./goal.js";
import type { Measured, Measures } from "./measure.js";
import { spread } from "./statistics.js";

/** The comparison as a person reads it: a row for each contestant, a line for each goal. */
export function formatReport(benchmark: Comparable, options: CompareOptions, comparison: Comparison): string {
  const { name, summary, measures, words } = benchmark;
  const { rounds, seconds, connections } = options;
  const heading =
    `${name}: ${summary}; ${connections} ${words.callers}, ${rounds} rounds of ${seconds} s, median (min..max)\n` +
    `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`;
  const rows = [
    [words.contestant, ...Object.values(measures).map(({ label }) => label)],
    ...[...comparison.rounds].map(([contestant, rounds]) => [contestant, ...cells(measures, rounds)]),
  ];
  const verdicts = comparison.verdicts.map((verdict) => describeVerdict(verdict, measures));
  return [heading, table(rows), verdicts.join("\n")].join("\n\n");
}

/** The same for programs, with every round. */
export function reportJson({ name }: Comparable, options: CompareOptions, comparison: Comparison): string {
  const { rounds, seconds, connections } = options;
  const report = {
    benchmark: name,
    node: process.versions.node,
    processors: cpus().map(({ model }) => model),
    options: { rounds, seconds, connections },
    servers: Object.fromEntries(comparison.rounds),
    goals: comparison.verdicts,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

function cells(measures: Measures, rounds: readonly Measured[]): string[] {
  return Object.entries(measures).map(([measure, { digits }]) =>
    cell(
      digits,
      rounds.map((round) => round[measure] ?? Number.NaN),
    ),
  );
}

function cell(digits: number, values: readonly number[]): string {
  const { median, min, max } = spread(values);
  if (Number.isNaN(median)) return "-";
  return `${median.toFixed(digits)} (${min.toFixed(digits)}..${max.toFixed(digits)})`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
