/**
 * Two runs are compared by what ours cost as a multiple of its peers, for the machines may differ. A ratio has become
 * worse when its median is worse by more than 5 % and no round of the one run lies among those of the other.
 */
import type { Comparable } from "./comparison.js";
import { formatSpread } from "./goals-table.js";
import { describeMachine } from "./machine.js";
import type { KeptRun } from "./results.js";
import type { BenchmarkRecord, RatioRecord } from "./run-record.js";
import type { Spread } from "./statistics.js";
import { table } from "./table.js";

export interface Change {
  readonly benchmark: Comparable;
  readonly now: RatioRecord;
  /** Absent where the earlier run has no such ratio. */
  readonly before: Spread | undefined;
  readonly verdict: "worse" | "better" | "alike" | "new";
}

const tolerance = 1.05;

/** Every ratio of a run beside the same one of an earlier run. */
export function compareRuns(
  benchmarks: readonly Comparable[],
  now: readonly BenchmarkRecord[],
  before: readonly BenchmarkRecord[],
): Change[] {
  return benchmarks.flatMap((benchmark) => {
    const earlier = ratiosOf(before, benchmark);
    return ratiosOf(now, benchmark).map((ratio) => {
      const { measure, of, against } = ratio;
      const same = earlier.find((one) => one.measure === measure && one.of === of && one.against === against);
      const better = benchmark.measures[measure]?.better ?? "lower";
      return { benchmark, now: ratio, before: same, verdict: same ? verdictOn(ratio, same, better) : "new" };
    });
  });
}

export function formatChanges(changes: readonly Change[], { file, record }: KeptRun): string {
  const commit = record.commit === null ? "no known commit" : record.commit.name;
  const heading = `Beside ${file}: ${commit}${record.commit?.dirty ? ", changed" : ""}, ${describeMachine(record.machine)}`;
  const rows = changes.map(({ benchmark, now, before, verdict }) => [
    benchmark.name,
    benchmark.measures[now.measure]?.label ?? now.measure,
    `${now.of} / ${now.against}`,
    before === undefined ? "-" : formatSpread(before, 3),
    formatSpread(now, 3),
    before === undefined ? "-" : percent(now.median / before.median - 1),
    verdict === "worse" ? "REGRESSION" : verdict,
  ]);
  return `${heading}\n\n${table([["benchmark", "measure", "ours / peer", "then", "now", "change", "verdict"], ...rows])}`;
}

function ratiosOf(records: readonly BenchmarkRecord[], { name }: Comparable): readonly RatioRecord[] {
  const record = records.find((candidate) => candidate.name === name);
  return record === undefined || "failure" in record ? [] : record.ratios;
}

function verdictOn(now: Spread, before: Spread, better: "lower" | "higher"): Change["verdict"] {
  if (now.min <= before.max && before.min <= now.max) return "alike";
  const growth = now.median / before.median;
  const loss = better === "lower" ? growth : 1 / growth;
  if (loss > tolerance) return "worse";
  return loss < 1 / tolerance ? "better" : "alike";
}

function percent(fraction: number): string {
  return `${fraction < 0 ? "" : "+"}${(fraction * 100).toFixed(1)} %`;
}
