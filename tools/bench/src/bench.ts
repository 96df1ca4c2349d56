import { writeFile } from "node:fs/promises";
import type { Benchmark, RunDeps, RunOptions } from "./benchmark.js";
import { type CommandOptions, helpText, readCommandLine } from "./command-line.js";
import { formatTables, formatTargets, type Outcome } from "./report.js";
import { keepRun, recordJson, recordRun } from "./results.js";
import { judgeTargets } from "./target.js";

export interface BenchDeps {
  /** Writes to standard output. */
  print(text: string): void;
  /** Writes to standard error. */
  printError(text: string): void;
  /** Stops a run, and everything that it has started. */
  readonly signal: AbortSignal;
  readonly resultsDirectory: string;
  /** Undefined for a tree that differs from its commit. */
  commit(): Promise<string | undefined>;
  now(): number;
}

/** Runs one command line. The exit code is 1 when a target was missed or a benchmark failed, 2 for an unclear command. */
export async function runBench(
  words: readonly string[],
  all: readonly Benchmark[],
  deps: BenchDeps,
): Promise<0 | 1 | 2> {
  const command = readCommandLine(words, all);
  switch (command.kind) {
    case "help":
      deps.print(helpText(all));
      return 0;
    case "unclear":
      deps.printError(`${command.reason}\n`);
      return 2;
    case "run":
      try {
        return (await run(command.benchmarks, command.options, deps)) ? 0 : 1;
      } catch (error) {
        deps.printError(`${deps.signal.aborted ? "Stopped." : messageOf(error)}\n`);
        return 1;
      }
  }
}

/** Resolves with whether every counted target is met. */
async function run(benchmarks: readonly Benchmark[], options: CommandOptions, deps: BenchDeps): Promise<boolean> {
  const { print, printError, resultsDirectory } = deps;
  const startedAtMs = deps.now();
  const commit = await deps.commit();
  const outcomes: Outcome[] = [];
  for (const [index, benchmark] of benchmarks.entries()) {
    if (benchmarks.length > 1) printError(`\n${benchmark.name}, ${index + 1} of ${benchmarks.length}\n`);
    outcomes.push(await runOne(benchmark, options, deps));
  }
  print(`\n${formatTargets(outcomes)}\n`);

  const { jsonFile, isComplete } = options;
  const record = recordRun(startedAtMs, commit, outcomes);
  if (jsonFile !== undefined) await writeFile(jsonFile, recordJson(record));
  if (isComplete && commit !== undefined) {
    print(`\nKept in ${await keepRun(resultsDirectory, record)}\n`);
  } else if (isComplete) {
    print("\nNot kept: the working tree differs from its commit.\n");
  }
  printError(`Took ${((deps.now() - startedAtMs) / 60_000).toFixed(1)} minutes.\n`);
  return outcomes.every(isGood);
}

/** A failure is an outcome. Only a stopped run rejects. */
async function runOne(benchmark: Benchmark, options: CommandOptions, deps: BenchDeps): Promise<Outcome> {
  const { defaults, isFixed } = benchmark;
  const own: RunOptions = {
    rounds: options.rounds ?? defaults.rounds,
    seconds: options.seconds ?? defaults.seconds,
    connections: (isFixed ? undefined : options.connections) ?? defaults.connections,
  };
  const runDeps: RunDeps = { progress: (line) => deps.printError(`${line}\n`), signal: deps.signal };
  try {
    const tables = await benchmark.run(own, runDeps);
    deps.print(`\n${formatTables(benchmark, own, tables)}\n`);
    return { kind: "measured", benchmark, tables, verdicts: judgeTargets(benchmark, tables) };
  } catch (error) {
    deps.signal.throwIfAborted();
    return { kind: "failed", benchmark, reason: messageOf(error) };
  }
}

function isGood(outcome: Outcome): boolean {
  return outcome.kind === "measured" && outcome.verdicts.every(({ met, isStretch }) => met || isStretch);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}
