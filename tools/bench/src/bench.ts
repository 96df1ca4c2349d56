import { writeFile } from "node:fs/promises";
import { helpText, readCommandLine } from "./command-line.js";
import type { Comparable } from "./comparison.js";
import { quota } from "./quota/quota.js";
import { formatReport, reportJson } from "./report.js";
import { restList } from "./rest-list.js";

const benchmarks: readonly Comparable[] = [restList, quota];

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Stops a run and everything it has started. */
  readonly signal: AbortSignal;
}

/** Runs one command line; the exit code is 0, 1 when a goal was missed or the run failed, 2 when it was not understood. */
export async function runBench(words: readonly string[], surroundings: Surroundings): Promise<0 | 1 | 2> {
  const { print, complain, signal } = surroundings;
  const command = readCommandLine(words, benchmarks);
  switch (command.kind) {
    case "help":
      print(helpText(benchmarks));
      return 0;
    case "unclear":
      complain(`${command.reason}\n`);
      return 2;
    case "run": {
      const { benchmark, options } = command;
      try {
        const comparison = await benchmark.compare(options, { progress: (line) => complain(`${line}\n`), signal });
        print(`\n${formatReport(benchmark, options, comparison)}\n`);
        if (options.jsonFile !== undefined)
          await writeFile(options.jsonFile, reportJson(benchmark, options, comparison));
        return comparison.verdicts.every(({ met }) => met) ? 0 : 1;
      } catch (error) {
        complain(`${signal.aborted ? "Stopped." : error instanceof Error ? error.message : error}\n`);
        return 1;
      }
    }
  }
}
