import type { Commit } from "./commit.js";
import type { ComparisonTable } from "./comparison.js";
import type { Verdict } from "./goal.js";
import type { Machine } from "./machine.js";
import type { Measured } from "./measure.js";
import type { Outcome } from "./outcome.js";
import { type Ratio, valuesWithin } from "./ratio.js";
import { type Spread, spread } from "./statistics.js";

/** What is kept of a run, to be compared with later ones. */
export interface RunRecord {
  readonly format: 1;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly minutes: number;
  readonly commit: Commit | null;
  readonly machine: Machine;
  readonly options: { readonly rounds?: number | undefined; readonly seconds: number };
  readonly benchmarks: readonly BenchmarkRecord[];
}

export type BenchmarkRecord =
  | { readonly name: string; readonly failure: string }
  | {
      readonly name: string;
      readonly tables: readonly TableRecord[];
      /** At the benchmark's own number of callers. */
      readonly ratios: readonly RatioRecord[];
      readonly goals: readonly Verdict[];
    };

interface TableRecord {
  readonly connections?: number;
  readonly contestants: Readonly<Record<string, Readonly<Record<string, Spread>>>>;
  /** Where they were asked for. */
  readonly rounds?: Readonly<Record<string, readonly Measured[]>>;
}

export interface RatioRecord extends Ratio, Spread {
  readonly rounds: readonly number[];
}

export interface RecordOptions {
  /** Also every round of every contestant. */
  readonly withRounds: boolean;
}

export function recordOutcome(outcome: Outcome, { withRounds }: RecordOptions): BenchmarkRecord {
  const { name, ratios, connections } = outcome.benchmark;
  if (outcome.kind === "failed") return { name, failure: outcome.reason };
  const judged = outcome.comparison.find((table) => table.connections === connections?.[0]);
  return {
    name,
    tables: outcome.comparison.map((table) => recordTable(table, withRounds)),
    ratios: judged === undefined ? [] : ratios.map((ratio) => recordRatio(ratio, judged)).filter(isMeasured),
    goals: outcome.verdicts.map((verdict) => ({ ...verdict, ratio: brief(verdict.ratio) })),
  };
}

/** A line for each benchmark. */
export function runRecordJson({ benchmarks, ...run }: RunRecord): string {
  const head = JSON.stringify(run).slice(1, -1);
  return `{${head},"benchmarks":[\n${benchmarks.map((each) => JSON.stringify(each)).join(",\n")}\n]}\n`;
}

function recordTable({ connections, rounds }: ComparisonTable, withRounds: boolean): TableRecord {
  const contestants = [...rounds].map(([contestant, each]) => [contestant, spreads(each)]);
  return {
    ...(connections !== undefined && { connections }),
    contestants: Object.fromEntries(contestants),
    ...(withRounds && { rounds: Object.fromEntries(rounds) }),
  };
}

/** Of each measure that the contestant has. */
function spreads(rounds: readonly Measured[]): Record<string, Spread> {
  const names = Object.keys(rounds[0] ?? {});
  const all = names.map((name) => [name, spread(rounds.map((round) => round[name] ?? Number.NaN))] as const);
  return Object.fromEntries(all.filter(([, one]) => isMeasured(one)).map(([name, one]) => [name, brief(one)]));
}

function recordRatio(ratio: Ratio, { rounds }: ComparisonTable): RatioRecord {
  const values = valuesWithin(rounds, ratio);
  return { ...ratio, ...brief(spread(values)), rounds: values.map(significant) };
}

function isMeasured({ median }: Spread): boolean {
  return !Number.isNaN(median);
}

function brief({ median, min, max }: Spread): Spread {
  return { median: significant(median), min: significant(min), max: significant(max) };
}

/** More digits than four are noise. */
function significant(value: number): number {
  return Number(value.toPrecision(4));
}
