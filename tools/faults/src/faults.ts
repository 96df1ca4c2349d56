import { writeFile } from "node:fs/promises";
import { isInstalled } from "@petstore/harness/installed-program";
import { helpText, readCommandLine } from "./command-line.js";
import { httpScenarios } from "./http-scenarios.js";
import { startIdleServer } from "./idle-server.js";
import { countOracles } from "./oracles.js";
import { postgresScenarios } from "./postgres-scenarios.js";
import { redisScenarios } from "./redis-scenarios.js";
import { formatReport, formatRow, isRunPassed, type Row, reportJson } from "./report.js";
import { rollingScenarios } from "./rolling-scenarios.js";
import { NotPossibleHere, type Scenario } from "./scenario.js";
import { inGoodTime } from "./schedule.js";
import { openStage, type StageDeps } from "./stage.js";
import { standaloneScenarios } from "./standalone-scenarios.js";
import { openStore } from "./store.js";
import { upgradeScenario } from "./upgrade-scenario.js";

const scenarios: readonly Scenario[] = [
  ...redisScenarios,
  ...postgresScenarios,
  ...standaloneScenarios,
  ...rollingScenarios,
  upgradeScenario,
  ...httpScenarios,
];

/** Kept by git from being committed. */
const usualJsonFile = new URL("../results.json", import.meta.url);

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Stops a run and everything it has started. */
  readonly signal: AbortSignal;
}

/** Runs one command line; the exit code is 0, 1 when a number was missed, 2 when it was not understood. */
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
      await using idle = await startIdleServer();
      const { options } = command;
      const rows: Row[] = [];
      const startMs = performance.now();
      for (const scenario of inGoodTime(command.scenarios)) {
        if (signal.aborted) return 1;
        complain(`${rows.length + 1}/${command.scenarios.length} ${scenario.name}: ${scenario.cause} ...`);
        const row = await play(scenario, { store, idleOrigin: idle.origin, options }, signal);
        complain(formatRow(row));
        rows.push(row);
      }
      const isOfEveryRow = command.scenarios.length === scenarios.length;
      const run = { rows, seconds: (performance.now() - startMs) / 1_000, isOfEveryRow };
      const jsonFile = command.jsonFile ?? (isOfEveryRow ? usualJsonFile : undefined);
      print(`\n${formatReport(run)}`);
      if (jsonFile !== undefined) await writeFile(jsonFile, reportJson(run));
      return isRunPassed(run) ? 0 : 1;
    }
  }
}

async function play(scenario: Scenario, deps: StageDeps, signal: AbortSignal): Promise<Row> {
  const startMs = performance.now();
  const seconds = () => (performance.now() - startMs) / 1_000;
  const missing = (scenario.needs ?? []).filter((program) => !isInstalled(program));
  if (missing.length > 0) {
    const names = missing.join(" and ");
    return { scenario, seconds: 0, error: `no ${names} in PATH; on Debian: apt-get install ${missing.join(" ")}` };
  }
  try {
    await using stage = openStage(deps);
    const checks = await Promise.race([scenario.run(stage), rejectionBy(signal)]);
    const oracles = await countOracles(stage.played, stage.store);
    const exchanges = stage.played.loads.flatMap((load) => load.exchanges);
    const failures = [...new Set(exchanges.flatMap(({ failure }) => failure ?? []))];
    return { scenario, seconds: seconds(), requests: exchanges.length, checks, oracles, failures };
  } catch (error) {
    if (error instanceof NotPossibleHere) return { scenario, seconds: seconds(), skipped: error.message };
    // The row counts as failed; the others are still played.
    return { scenario, seconds: seconds(), error: error instanceof Error ? error.message : `${error}` };
  }
}

function rejectionBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
}
