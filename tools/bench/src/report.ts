import type { Comparable, CompareOptions, Comparison } from "./comparison.js";
import { formatSpread } from "./goals-table.js";
import { describeMachine, thisMachine } from "./machine.js";
import type { Measured, Measures } from "./measure.js";
import { spread } from "./statistics.js";
import { table } from "./table.js";

/** The comparison as a person reads it: for each number of callers, a row for each contestant. */
export function formatReport(benchmark: Comparable, options: CompareOptions, comparison: Comparison): string {
  const { name, summary, measures, words } = benchmark;
  const { rounds, seconds } = options;
  return comparison
    .map((one) => {
      const callers = one.connections === undefined ? "" : `${words.callers}: ${one.connections}, `;
      const heading =
        `${name}: ${summary}; ${callers}rounds: ${rounds}, of ${seconds} s, median (min..max)\n` +
        describeMachine(thisMachine());
      const rows = [
        [words.contestant, ...Object.values(measures).map(({ label }) => label)],
        ...[...one.rounds].map(([contestant, each]) => [contestant, ...cells(measures, each)]),
      ];
      return `${heading}\n\n${table(rows)}`;
    })
    .join("\n\n");
}

function cells(measures: Measures, rounds: readonly Measured[]): string[] {
  return Object.entries(measures).map(([measure, { digits }]) => {
    const values = spread(rounds.map((round) => round[measure] ?? Number.NaN));
    return Number.isNaN(values.median) ? "-" : formatSpread(values, digits);
  });
}
