import { cpus } from "node:os";
import { formatTable } from "@petstore/harness/figures";
import type { Benchmark, RunOptions, Table } from "./benchmark.js";
import { connectionsOf, type Spread, spread, type Verdict } from "./target.js";

/** The outcome of one benchmark. */
export type Outcome =
  | {
      readonly kind: "measured";
      readonly benchmark: Benchmark;
      readonly tables: readonly Table[];
      readonly verdicts: readonly Verdict[];
    }
  | { readonly kind: "failed"; readonly benchmark: Benchmark; readonly reason: string };

/** A table for each number of connections, with a row for each server. */
export function formatTables(
  { name, summary, measures, isFixed }: Benchmark,
  { rounds, seconds }: RunOptions,
  tables: readonly Table[],
): string {
  return tables
    .map((table) => {
      const connections = isFixed ? "" : `connections: ${table.connections}, `;
      const rows = [...table.rounds].map(([server, measured]) => [
        server,
        ...Object.entries(measures).map(([measure, { digits }]) => {
          const values = spread(measured.map((round) => round[measure] ?? Number.NaN));
          return Number.isNaN(values.median) ? "-" : formatSpread(values, digits);
        }),
      ]);
      const heading = `${name}: ${summary}; ${connections}rounds: ${rounds}, of ${seconds} s, median (min..max)`;
      return `${heading}\n${describeMachine()}\n\n${formatTable([["", ...Object.values(measures).map(({ label }) => label)], ...rows])}`;
    })
    .join("\n\n");
}

/** Every target that the run could judge. A failed benchmark is a row too. */
export function formatTargets(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap((outcome) =>
    outcome.kind === "failed"
      ? [[outcome.benchmark.name, "-", "-", "-", "-", `FAILED: ${outcome.reason}`]]
      : outcome.verdicts.map((verdict) => targetRow(outcome.benchmark, verdict)),
  );
  const heading = ["benchmark", "measure", "ours / peer", "ratio (min..max)", "target", ""];
  return rows.length === 0 ? "No target is about these numbers of connections." : formatTable([heading, ...rows]);
}

function formatSpread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}..${max.toFixed(digits)})`;
}

export function describeMachine(): string {
  return `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`;
}

function targetRow(benchmark: Benchmark, verdict: Verdict): string[] {
  const { measure, of, against, atLeast, atMost, ratio, met, isStretch } = verdict;
  const { label = measure, digits = 0 } = benchmark.measures[measure] ?? {};
  const limit = (value: number) => value.toFixed(against === undefined ? digits : 2);
  return [
    benchmark.isFixed ? benchmark.name : `${benchmark.name} at ${connectionsOf(benchmark, verdict)}`,
    label,
    against === undefined ? of : `${of} / ${against}`,
    formatSpread(ratio, against === undefined ? digits : 3),
    [
      ...(atLeast === undefined ? [] : [`>= ${limit(atLeast)}`]),
      ...(atMost === undefined ? [] : [`<= ${limit(atMost)}`]),
    ].join(", "),
    isStretch ? `${met ? "met" : "missed"} (stretch goal)` : met ? "met" : "MISSED",
  ];
}
