import { cpus } from "node:os";
import type { Benchmark } from "./benchmark.js";
import type { CompareOptions, Comparison } from "./compare.js";
import { describeVerdict } from "./goal.js";
import { type Measure, measures, type Round } from "./round.js";
import { spread } from "./statistics.js";

const measureNames = Object.keys(measures) as Measure[];

/** The comparison as a person reads it: a row for each server, a line for each goal. */
export function formatReport({ name, summary }: Benchmark, options: CompareOptions, comparison: Comparison): string {
  const { rounds, seconds, connections } = options;
  const heading =
    `${name}: ${summary}; ${connections} connections, ${rounds} rounds of ${seconds} s, median (min..max)\n` +
    `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`;
  const rows = [
    ["server", ...measureNames.map((measure) => measures[measure].label)],
    ...[...comparison.rounds].map(([server, measured]) => [server, ...measureNames.map((it) => cell(it, measured))]),
  ];
  return [heading, table(rows), comparison.verdicts.map(describeVerdict).join("\n")].join("\n\n");
}

/** The same for programs, with every round. */
export function reportJson({ name }: Benchmark, options: CompareOptions, comparison: Comparison): string {
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

function cell(measure: Measure, measured: readonly Round[]): string {
  const { digits } = measures[measure];
  const { median, min, max } = spread(measured.map((round) => round[measure]));
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
