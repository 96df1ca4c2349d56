import type { Benchmark } from "./benchmark.js";
import { compare } from "./compare.js";
import { type Comparable, usual } from "./comparison.js";
import type { Ratio } from "./ratio.js";
import { measures } from "./round.js";

/** A benchmark of servers, for the command line. */
export function serverComparison(benchmark: Benchmark): Comparable {
  return {
    name: benchmark.name,
    summary: benchmark.summary,
    measures,
    words: { contestant: "server", callers: "connections" },
    rounds: usual.rounds,
    connections: benchmark.connections ?? [usual.connections],
    goals: benchmark.goals,
    ratios: ratiosOf(benchmark),
    compare: (options, deps) => compare(benchmark, options, deps),
  };
}

/** The steadiest figure beside every peer, and whatever else a goal is about. */
function ratiosOf({ contestants: [ours, ...peers], goals }: Benchmark): Ratio[] {
  const cpu = peers.map(({ name }) => ({ measure: "cpuMicroseconds", of: ours.name, against: name }));
  const others = goals.flatMap(({ measure, of, against }) =>
    against === undefined || measure === "cpuMicroseconds" ? [] : [{ measure, of, against }],
  );
  return [...cpu, ...others];
}
