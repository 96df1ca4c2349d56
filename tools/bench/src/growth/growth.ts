import { writeFile } from "node:fs/promises";
import { helpText, readCommandLine } from "./command-line.js";
import { idle } from "./idle.js";
import { pages } from "./pages.js";
import type { Part, PartDeps } from "./part.js";
import { formatOutcomes, formatPart, isPassed, type PartReport, reportJson } from "./report.js";
import { rows } from "./rows.js";
import { soak } from "./soak.js";

const parts: readonly Part[] = [pages, rows, soak, idle];

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Stops a run and everything it has started. */
  readonly signal: AbortSignal;
}

/** Runs one command line; the exit code is 0, 1 when a goal was missed or a part failed, 2 when it was not understood. */
export async function runGrowth(words: readonly string[], surroundings: Surroundings): Promise<0 | 1 | 2> {
  const { print, complain, signal } = surroundings;
  const command = readCommandLine(words, parts);
  switch (command.kind) {
    case "help":
      print(helpText(parts));
      return 0;
    case "unclear":
      complain(`${command.reason}\n`);
      return 2;
    case "run": {
      const { options, jsonFile } = command;
      const reports: PartReport[] = [];
      for (const part of command.parts) {
        const deps: PartDeps = { signal, progress: (line) => complain(`${part.name}: ${line}\n`) };
        const report = await part.run(options, deps).then(
          (result) => ({ part, result }),
          // The part counts as failed; the others are still run.
          (error: unknown) => ({ part, failure: error instanceof Error ? error.message : `${error}` }),
        );
        if (signal.aborted) {
          complain("Stopped.\n");
          return 1;
        }
        complain(`\n${formatPart(report)}\n\n`);
        reports.push(report);
      }
      print(`${formatOutcomes(reports)}\n`);
      if (jsonFile !== undefined) await writeFile(jsonFile, reportJson(options, reports));
      return reports.every(isPassed) ? 0 : 1;
    }
  }
}
