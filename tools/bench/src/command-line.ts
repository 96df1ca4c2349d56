import { parseArgs } from "node:util";
import { type Benchmark, type RunOptions, usual } from "./benchmark.js";

/** An option that the command line does not name has the default of each benchmark. */
export interface Command extends Partial<RunOptions> {
  readonly benchmarks: readonly Benchmark[];
  /** True if the run may be kept: every benchmark, with its defaults. */
  readonly isComplete: boolean;
  readonly jsonFile: string | undefined;
}

/** Undefined if only help is wanted. Throws an error that says what is unclear. */
export function readCommandLine(words: readonly string[], all: readonly Benchmark[]): Command | undefined {
  const { values } = parseArgs({ args: [...words], options: optionShapes });
  const { only = [], rounds, seconds, connections, json, help } = values;
  if (help) return undefined;
  const named = new Set(only.flatMap((word) => namedBy(word, all)));
  return {
    benchmarks: all.filter((benchmark) => only.length === 0 || named.has(benchmark)),
    ...(rounds !== undefined && { rounds: wholeNumber("rounds", rounds) }),
    ...(seconds !== undefined && { seconds: decimal("seconds", seconds) }),
    ...(connections !== undefined && { connections: wholeNumbers("connections", connections) }),
    isComplete: [values.only, rounds, seconds, connections].every((value) => value === undefined),
    jsonFile: json,
  };
}

export function helpText(all: readonly Benchmark[]): string {
  const width = Math.max(...all.map(({ name }) => name.length)) + 2;
  const lines = all.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return `Usage: npm run bench -- [options]

Measures our services and their peers in interleaved rounds, each in a process of its own, over one private PostgreSQL and
Redis, and compares the ratios with their targets. The CPU time of the server process per request is the figure to trust:
ratios survive a noisy machine, and absolute times do not. All benchmarks take about half an hour. The exit code is 1 when a
target is missed or a benchmark fails. Stretch goals do not count.

Benchmarks:
${lines.join("\n")}

Options:
  --only <benchmark>    run only this benchmark, or all whose names begin with this word, such as rest; may be repeated
  --rounds <n>          how often each server is measured (mostly ${usual.rounds})
  --seconds <n>         how long, each time, when all connections are open (mostly ${usual.seconds})
  --connections <n,...> how many connections at once; a table for each number. A target is judged only at its own number
  --json <file>         write the result to this file, with every round
  --help                show this

A run of every benchmark with the defaults, from a clean commit, is kept in tools/bench/results.
`;
}

const optionShapes = {
  only: { type: "string", multiple: true },
  rounds: { type: "string" },
  seconds: { type: "string" },
  connections: { type: "string" },
  json: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** The benchmark of this name; otherwise all whose names begin with it and a hyphen. */
function namedBy(word: string, all: readonly Benchmark[]): readonly Benchmark[] {
  const exact = all.filter(({ name }) => name === word);
  const named = exact.length > 0 ? exact : all.filter(({ name }) => name.startsWith(`${word}-`));
  if (named.length > 0) return named;
  throw new Error(`There is no benchmark ${word}. There are: ${all.map(({ name }) => name).join(", ")}.`);
}

function wholeNumbers(name: string, text: string): number[] {
  return [...new Set(text.split(",").map((each) => wholeNumber(name, each)))];
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number from 1 to 99999.`);
}

function decimal(name: string, text: string): number {
  if (/^\d{1,5}(\.\d+)?$/.test(text) && Number(text) >= 0.1) return Number(text);
  throw new Error(`--${name} must be a number from 0.1 to 99999.`);
}
