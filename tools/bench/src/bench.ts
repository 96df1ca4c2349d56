import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Benchmark, RunDeps, RunOptions } from "./benchmark.js";
import { type Command, helpText, readCommandLine } from "./command-line.js";
import { formatTables, formatTargets, type Outcome, runAsJson } from "./report.js";
import { judgeTargets } from "./target.js";

export interface BenchDeps extends RunDeps {
  /** Writes to standard output. */
  print(text: string): void;
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
  let command: Command | undefined;
  try {
    command = readCommandLine(words, all);
  } catch (error) {
    deps.progress(messageOf(error));
    return 2;
  }
  if (command === undefined) {
    deps.print(helpText(all));
    return 0;
  }
  try {
    return (await run(command, deps)) ? 0 : 1;
  } catch (error) {
    deps.progress(deps.signal.aborted ? "Stopped." : messageOf(error));
    return 1;
  }
}

/** Resolves with whether every target is met, apart from stretch goals. */
async function run(command: Command, deps: BenchDeps): Promise<boolean> {
  const { benchmarks, isComplete, jsonFile } = command;
  const { print, progress } = deps;
  const startedAtMs = deps.now();
  const commit = await deps.commit();
  const outcomes: Outcome[] = [];
  for (const [index, benchmark] of benchmarks.entries()) {
    if (benchmarks.length > 1) progress(`\n${benchmark.name}, ${index + 1} of ${benchmarks.length}`);
    outcomes.push(await runOne(benchmark, command, deps));
  }
  print(`\n${formatTargets(outcomes)}\n`);

  const startedAt = new Date(startedAtMs).toISOString();
  const json = runAsJson(startedAt, commit, outcomes);
  if (jsonFile !== undefined) await writeFile(jsonFile, json);
  if (isComplete && commit !== undefined) {
    await mkdir(deps.resultsDirectory, { recursive: true });
    const file = join(deps.resultsDirectory, `${startedAt.slice(0, 10)}-${commit}.json`);
    await writeFile(file, json);
    print(`\nKept in ${file}\n`);
  } else if (isComplete) {
    print("\nNot kept: the working tree differs from its commit.\n");
  }
  progress(`Took ${((deps.now() - startedAtMs) / 60_000).toFixed(1)} minutes.`);
  return outcomes.every(({ failure, verdicts }) => {
    return failure === undefined && verdicts.every(({ met, isStretch }) => met || isStretch);
  });
}

/** A failure is an outcome. Only a stopped run rejects. */
async function runOne(benchmark: Benchmark, command: Command, deps: BenchDeps): Promise<Outcome> {
  const { defaults, isFixed, targets } = benchmark;
  const options: RunOptions = {
    rounds: command.rounds ?? defaults.rounds,
    seconds: command.seconds ?? defaults.seconds,
    connections: (isFixed ? undefined : command.connections) ?? defaults.connections,
  };
  try {
    const tables = await benchmark.run(options, deps);
    deps.print(`\n${formatTables(benchmark, options, tables)}\n`);
    return { benchmark, tables, verdicts: judgeTargets(targets, tables) };
  } catch (error) {
    deps.signal.throwIfAborted();
    return { benchmark, tables: [], verdicts: [], failure: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}
