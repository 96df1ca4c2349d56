import { cpus } from "node:os";
import { formatTable } from "@petstore/harness/figures";
import type { Benchmark, RunOptions, Table } from "./benchmark.js";
import { type Spread, spreadOf, type Verdict } from "./target.js";

/** The outcome of one benchmark. */
export interface Outcome {
  readonly benchmark: Benchmark;
  readonly tables: readonly Table[];
  readonly verdicts: readonly Verdict[];
  /** Why it failed. It has no tables then. */
  readonly failure?: string;
}

/** A table for each number of connections, with a row for each server. */
export function formatTables(
  { name, summary, measures, isFixed }: Benchmark,
  { rounds, seconds }: RunOptions,
  tables: readonly Table[],
): string {
  return tables
    .map((table) => {
      const connections = isFixed ? "" : `connections: ${table.connections}, `;
      const rows = Object.keys(table.rounds).map((server) => [
        server,
        ...Object.entries(measures).map(([measure, { digits }]) =>
          formatSpread(spreadOf({ measure, of: server }, table.rounds), digits),
        ),
      ]);
      const heading = `${name}: ${summary}; ${connections}rounds: ${rounds}, of ${seconds} s, median (min..max)`;
      const labels = Object.values(measures).map(({ label }) => label);
      return `${heading}\n${describeMachine()}\n\n${formatTable([["", ...labels], ...rows])}`;
    })
    .join("\n\n");
}

/** Every target that the run could judge. A failed benchmark is a row too. */
export function formatTargets(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap(({ benchmark, verdicts, failure }) =>
    failure === undefined
      ? verdicts.map((verdict) => targetRow(benchmark, verdict))
      : [[benchmark.name, "-", "-", "-", "-", `FAILED: ${failure}`]],
  );
  const heading = ["benchmark", "measure", "ours / peer", "ratio (min..max)", "target", ""];
  return rows.length === 0 ? "No target is about these numbers of connections." : formatTable([heading, ...rows]);
}

/**
 * A run: the rounds of every server, and the verdict on every target. One line for each benchmark. Numbers have four
 * digits: more are noise.
 */
export function runAsJson(startedAt: string, commit: string | undefined, outcomes: readonly Outcome[]): string {
  const json = (value: object) =>
    JSON.stringify(value, (_, each) => (typeof each === "number" ? Number(each.toPrecision(4)) : each));
  const benchmarks = outcomes.map(({ benchmark: { name }, tables, verdicts, failure }) =>
    json({ name, failure, targets: verdicts, tables }),
  );
  const run = json({ startedAt, commit, machine: describeMachine() });
  return `{${run.slice(1, -1)},"benchmarks":[\n${benchmarks.join(",\n")}\n]}\n`;
}

function describeMachine(): string {
  return `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`;
}

function formatSpread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}..${max.toFixed(digits)})`;
}

function targetRow({ name, measures }: Benchmark, verdict: Verdict): string[] {
  const { measure, of, against, atLeast, atMost, connections, ratio, met, isStretch } = verdict;
  const { label = measure, digits = 0 } = measures[measure] ?? {};
  const limit = (value: number) => value.toFixed(against === undefined ? digits : 2);
  return [
    connections === undefined ? name : `${name} at ${connections}`,
    label,
    against === undefined ? of : `${of} / ${against}`,
    formatSpread(ratio, against === undefined ? digits : 3),
    atLeast === undefined ? `<= ${limit(atMost ?? Number.NaN)}` : `>= ${limit(atLeast)}`,
    isStretch ? `${met ? "met" : "missed"} (stretch goal)` : met ? "met" : "MISSED",
  ];
}
