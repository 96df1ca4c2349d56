import type { Comparable } from "./comparison.js";
import { callersOf, type Verdict } from "./goal.js";
import type { Outcome } from "./outcome.js";
import type { Spread } from "./statistics.js";
import { table } from "./table.js";

/** Every goal of a run, a row each; a benchmark that failed is a row too. */
export function formatGoals(outcomes: readonly Outcome[]): string {
  const rows = outcomes.flatMap((outcome) =>
    outcome.kind === "failed"
      ? [failedRow(outcome.benchmark, outcome.reason)]
      : outcome.verdicts.map((verdict) => goalRow(outcome.benchmark, verdict)),
  );
  const goals = table([["benchmark", "goal", "ours / peer", "ratio (lowest..highest)", "limit", "verdict"], ...rows]);
  return [...(rows.length > 0 ? [goals] : []), ...outcomes.flatMap(unjudged)].join("\n");
}

function goalRow(benchmark: Comparable, verdict: Verdict): string[] {
  const { measure, of, against, atLeast, atMost, ratio, met, uncounted } = verdict;
  const { label, digits } = benchmark.measures[measure] ?? { label: measure, digits: 0 };
  const connections = callersOf(benchmark, verdict);
  const limits = [
    ...(atLeast === undefined ? [] : [`>= ${atLeast.toFixed(against === undefined ? digits : 2)}`]),
    ...(atMost === undefined ? [] : [`<= ${atMost.toFixed(against === undefined ? digits : 2)}`]),
  ];
  return [
    connections === undefined ? benchmark.name : `${benchmark.name} at ${connections}`,
    label,
    against === undefined ? of : `${of} / ${against}`,
    formatSpread(ratio, against === undefined ? digits : 3),
    limits.join(", "),
    uncounted === undefined ? (met ? "met" : "MISSED") : `${met ? "met" : "missed"} (${uncounted})`,
  ];
}

function failedRow({ name }: Comparable, reason: string): string[] {
  return [name, "runs to its end", "-", "-", "-", `FAILED: ${reason}`];
}

export function formatSpread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}..${max.toFixed(digits)})`;
}

function unjudged(outcome: Outcome): string[] {
  if (outcome.kind === "failed") return [];
  const { benchmark, verdicts } = outcome;
  const count = benchmark.goals.length - verdicts.length;
  if (count === 0) return [];
  const judgedAt = verdicts.map((verdict) => callersOf(benchmark, verdict));
  const numbers = new Set(benchmark.goals.map((goal) => callersOf(benchmark, goal)));
  const others = [...numbers].filter((at) => !judgedAt.includes(at)).join(" and ");
  return [`${benchmark.name}: ${count} of its goals not judged, which are about ${others} ${benchmark.words.callers}.`];
}
