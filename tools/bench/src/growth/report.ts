import { cpus } from "node:os";
import { table } from "../table.js";
import type { GrowthOptions, Part, PartResult } from "./part.js";

/** A part that was run, or could not be. */
export type PartReport =
  | { readonly part: Part; readonly result: PartResult }
  | { readonly part: Part; readonly failure: string };

export function isPassed(report: PartReport): boolean {
  return "result" in report && report.result.outcomes.every(({ met }) => met);
}

/** What one part measured. */
export function formatPart(report: PartReport): string {
  const { name, summary } = report.part;
  if ("failure" in report) return `${name} could not be measured: ${report.failure}`;
  const { rows, notes } = report.result;
  return [`${name}: ${summary}`, "", table(rows), ...notes.flatMap((note) => ["", note])].join("\n");
}

/** Every goal of a run, and whether it was met. */
export function formatOutcomes(reports: readonly PartReport[]): string {
  const rows = reports.flatMap((report) =>
    "failure" in report
      ? [[report.part.name, "runs", report.failure, "to its end", "FAILED"]]
      : report.result.outcomes.map(({ what, measured, goal, met }) => [
          report.part.name,
          what,
          measured,
          goal,
          met ? "met" : "MISSED",
        ]),
  );
  const machine = `Node ${process.versions.node}, ${cpus().length} x ${cpus()[0]?.model ?? "unknown processor"}`;
  return [machine, "", table([["part", "what", "measured", "goal", "verdict"], ...rows])].join("\n");
}

export function reportJson(options: GrowthOptions, reports: readonly PartReport[]): string {
  const report = {
    node: process.versions.node,
    processors: cpus().map(({ model }) => model),
    options,
    parts: reports.map(({ part, ...report }) =>
      "failure" in report
        ? { part: part.name, failure: report.failure }
        : { part: part.name, outcomes: report.result.outcomes, details: report.result.details },
    ),
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}
