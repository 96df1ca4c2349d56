import { writeFile } from "node:fs/promises";
import { helpText, readCommandLine } from "./command-line.js";
import { countOracles } from "./oracles.js";
import { redisScenarios } from "./redis-scenarios.js";
import { formatReport, formatRow, isPassed, type Row, reportJson } from "./report.js";
import type { RunOptions, Scenario } from "./scenario.js";
import { openStage } from "./stage.js";
import { openStore, type Store } from "./store.js";

const scenarios: readonly Scenario[] = redisScenarios;

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Stops a run and everything it has started. */
  readonly signal: AbortSignal;
}

/** Runs one command line; the exit code is 0, 1 when a number was missed or a row failed, 2 when it was not understood. */
export async function runFaults(
  words: readonly string[],
  { print, complain, signal }: Surroundings,
): Promise<0 | 1 | 2> {
  const command = readCommandLine(words, scenarios);
  switch (command.kind) {
    case "help":
      print(helpText(scenarios));
      return 0;
    case "unclear":
      complain(command.reason);
      return 2;
    case "run": {
      await using store = await openStore();
      const rows: Row[] = [];
      for (const scenario of command.scenarios) {
        if (signal.aborted) return 1;
        complain(`${scenario.name}: ${scenario.cause} ...`);
        const row = await play(scenario, store, command.options, signal);
        complain(formatRow(row));
        rows.push(row);
      }
      print(`\n${formatReport(rows)}`);
      if (command.jsonFile !== undefined) await writeFile(command.jsonFile, reportJson(rows));
      return rows.every(isPassed) ? 0 : 1;
    }
  }
}

async function play(scenario: Scenario, store: Store, options: RunOptions, signal: AbortSignal): Promise<Row> {
  const startMs = performance.now();
  const seconds = () => (performance.now() - startMs) / 1_000;
  try {
    await using stage = openStage(store, options);
    const checks = await Promise.race([scenario.run(stage), rejectionBy(signal)]);
    const oracles = await countOracles(stage.played, store);
    const exchanges = stage.played.loads.flatMap((load) => load.exchanges);
    const failures = [...new Set(exchanges.flatMap(({ failure }) => failure ?? []))];
    return { scenario, seconds: seconds(), requests: exchanges.length, checks, oracles, failures };
  } catch (error) {
    // The row counts as failed; the others are still played.
    return { scenario, seconds: seconds(), error: error instanceof Error ? error.message : `${error}` };
  }
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
}
