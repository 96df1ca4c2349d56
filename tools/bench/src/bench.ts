import { writeFile } from "node:fs/promises";
import { helpText, type RunOptions, readCommandLine } from "./command-line.js";
import type { Commit } from "./commit.js";
import { type Comparable, type CompareDeps, usual } from "./comparison.js";
import { formatGoals } from "./goals-table.js";
import { thisMachine } from "./machine.js";
import { isGood, measured, type Outcome } from "./outcome.js";
import { compareRuns, formatChanges } from "./regression.js";
import { formatReport } from "./report.js";
import { type KeptRun, keepRun, newestRun, readRun, resultName } from "./results.js";
import { type RunRecord, recordOutcome, runRecordJson } from "./run-record.js";

export interface Surroundings {
  print(text: string): void;
  complain(text: string): void;
  /** Stops a run and everything it has started. */
  readonly signal: AbortSignal;
  /** Where runs of every benchmark are kept. */
  readonly resultsDirectory: string;
  /** What is measured; undefined where no commit is known. */
  commit(): Promise<Commit | undefined>;
  now(): number;
}

/** Runs one command line; the exit code is 0, 1 when a goal was missed or the run failed, 2 when it was not understood. */
export async function runBench(
  words: readonly string[],
  all: readonly Comparable[],
  surroundings: Surroundings,
): Promise<0 | 1 | 2> {
  const command = readCommandLine(words, all);
  switch (command.kind) {
    case "help":
      surroundings.print(helpText(all));
      return 0;
    case "unclear":
      surroundings.complain(`${command.reason}\n`);
      return 2;
    case "run":
      try {
        return (await run(command.benchmarks, command.options, surroundings)) ? 0 : 1;
      } catch (error) {
        surroundings.complain(`${surroundings.signal.aborted ? "Stopped." : messageOf(error)}\n`);
        return 1;
      }
  }
}

/** Resolves with whether all is good. */
async function run(
  benchmarks: readonly Comparable[],
  options: RunOptions,
  surroundings: Surroundings,
): Promise<boolean> {
  const { print, complain, now } = surroundings;
  const startedAtMs = now();
  const start = { startedAt: new Date(startedAtMs).toISOString(), commit: (await surroundings.commit()) ?? null };
  // Read before the minutes that a run takes: it may be missing.
  const earlier = await earlierRun(options, resultName(start), surroundings);
  const outcomes = await measureAll(benchmarks, options, surroundings);
  print(`\n${formatGoals(outcomes)}\n`);

  const minutes = Math.round((now() - startedAtMs) / 6_000) / 10;
  const record = (withRounds: boolean): RunRecord => ({
    format: 1,
    ...start,
    minutes,
    machine: thisMachine(),
    options: { rounds: options.rounds, seconds: options.seconds },
    benchmarks: outcomes.map((outcome) => recordOutcome(outcome, { withRounds })),
  });
  const brief = record(false);
  const changes = earlier ? compareRuns(benchmarks, brief.benchmarks, earlier.record.benchmarks) : [];
  if (earlier) print(`\n${formatChanges(changes, earlier)}\n`);
  if (options.jsonFile !== undefined) await writeFile(options.jsonFile, runRecordJson(record(true)));
  if (options.all) await keep(brief, options, surroundings);

  complain(`Took ${minutes} minutes.\n`);
  const hasRegression = changes.some(({ verdict }) => verdict === "worse");
  return outcomes.every(isGood) && !(options.failOnRegression && hasRegression);
}

async function earlierRun(
  { all, against }: RunOptions,
  ownName: string,
  { resultsDirectory }: Surroundings,
): Promise<KeptRun | undefined> {
  if (against !== undefined) return readRun(against);
  return all ? newestRun(resultsDirectory, ownName) : undefined;
}

/** One that fails is an outcome like the others; a run that is stopped ends. */
async function measureAll(
  benchmarks: readonly Comparable[],
  options: RunOptions,
  { print, complain, signal }: Surroundings,
): Promise<Outcome[]> {
  const deps: CompareDeps = { progress: (line) => complain(`${line}\n`), signal };
  const outcomes: Outcome[] = [];
  for (const [index, benchmark] of benchmarks.entries()) {
    if (benchmarks.length > 1) deps.progress(`\n${benchmark.name}, ${1 + index} of ${benchmarks.length}`);
    const own = {
      rounds: options.rounds ?? benchmark.rounds,
      seconds: options.seconds,
      connections: options.connections ?? benchmark.connections ?? [],
      profileDirectory: options.profileDirectory,
    };
    try {
      const comparison = await benchmark.compare(own, deps);
      print(`\n${formatReport(benchmark, own, comparison)}\n`);
      outcomes.push(measured(benchmark, comparison));
    } catch (error) {
      signal.throwIfAborted();
      outcomes.push({ kind: "failed", benchmark, reason: messageOf(error) });
    }
  }
  return outcomes;
}

async function keep(record: RunRecord, options: RunOptions, { resultsDirectory, print }: Surroundings): Promise<void> {
  if (!isThorough(options)) return print("\nNot kept: it measured less than a run with the defaults.\n");
  print(`\nKept in ${await keepRun(resultsDirectory, record)}\n`);
}

/** Less would be found worse or better by chance, and ratios at other numbers of callers are about something else. */
function isThorough({ rounds = usual.rounds, seconds, connections }: RunOptions): boolean {
  return rounds >= usual.rounds && seconds >= usual.seconds && connections === undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}
