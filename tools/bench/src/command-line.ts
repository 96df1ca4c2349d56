import { parseArgs } from "node:util";
import { type Comparable, usual } from "./comparison.js";

/** What the command line has to know of a benchmark. */
export type Named = Pick<Comparable, "name" | "summary" | "connections">;

export type Command<Benchmark extends Named> =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly benchmarks: readonly Benchmark[]; readonly options: RunOptions }
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

export interface RunOptions {
  /** Whether no benchmark was named. */
  readonly all: boolean;
  /** Absent, each benchmark has its own number. */
  readonly rounds: number | undefined;
  readonly seconds: number;
  /** Absent, each benchmark has its own. */
  readonly connections: readonly number[] | undefined;
  readonly jsonFile: string | undefined;
  readonly profileDirectory: string | undefined;
  readonly against: string | undefined;
  readonly failOnRegression: boolean;
}

export function readCommandLine<Benchmark extends Named>(
  words: readonly string[],
  benchmarks: readonly Benchmark[],
): Command<Benchmark> {
  try {
    const { values } = parseArgs({ args: [...words], options: optionShapes });
    if (values.help) return { kind: "help" };
    const only = values.only ?? [];
    const named = benchmarks.filter(({ name }) => only.includes(name));
    const unknown = only.find((word) => !named.some(({ name }) => name === word));
    if (unknown !== undefined) {
      const names = benchmarks.map(({ name }) => name).join(", ");
      return { kind: "unclear", reason: `There is no benchmark ${unknown}. There are: ${names}.` };
    }
    const fixed = named.find(({ connections }) => connections === undefined);
    if (fixed !== undefined && (values.connections ?? values.profile) !== undefined) {
      return { kind: "unclear", reason: `${fixed.name} takes neither --connections nor --profile.` };
    }
    if (named.length !== 1 && values.profile !== undefined) {
      return { kind: "unclear", reason: "--profile needs one benchmark, named by --only." };
    }
    return {
      kind: "run",
      benchmarks: named.length === 0 ? benchmarks : named,
      options: {
        all: named.length === 0,
        rounds: values.rounds === undefined ? undefined : wholeNumber("rounds", values.rounds),
        seconds: values.seconds === undefined ? usual.seconds : decimal("seconds", values.seconds),
        connections: values.connections === undefined ? undefined : wholeNumbers("connections", values.connections),
        jsonFile: values.json,
        profileDirectory: values.profile,
        against: values.against,
        failOnRegression: values["fail-on-regression"],
      },
    };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export function helpText(benchmarks: readonly Named[]): string {
  const width = Math.max(...benchmarks.map(({ name }) => name.length)) + 2;
  const lines = benchmarks.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return `Usage: npm run bench -- [options]

Measures our services and their peers in turns, each in a process of its own over one private PostgreSQL and Redis, and
compares the ratios with their targets. The CPU time of the server process per request is the figure to trust: ratios
survive a noisy machine, and absolute times do not. All benchmarks take about 35 minutes, and the result is kept in
tools/bench/results. The exit code is 1 when a target is missed or a benchmark fails. Stretch goals do not count.

Benchmarks:
${lines.join("\n")}

Options:
  --only <benchmark>    run only this benchmark; may be repeated
  --rounds <n>          how often each contestant is measured (default ${usual.rounds}; for memory 1)
  --seconds <n>         how long, each time, once the connections are made (default ${usual.seconds})
  --connections <n,...> how many connections, or callers, at once, a table for each number; a goal is judged
                        only at the number that it is about (default ${usual.connections}, but
                        ${otherConnections(benchmarks)})
  --json <file>         write the result to this file, with every round
  --against <file>      compare with this result; a run of every benchmark takes the newest other one that is kept
  --fail-on-regression  exit with 1 also when a ratio to a peer is worse by more than 5 %, no round as good as one then
  --profile <dir>       write a CPU profile of each contestant of one benchmark to this directory, from one more round
  --help                show this

A run with fewer rounds or seconds than the defaults, or with other numbers of connections, is not kept: what is compared
with it later would be worse or better by chance.
${memoryText}`;
}

/** Such as 512 for one, other; 64,32 for third: those that have not the usual number. */
function otherConnections(benchmarks: readonly Named[]): string {
  const namesByNumbers = new Map<string, string[]>();
  for (const { name, connections } of benchmarks) {
    const numbers = connections?.join();
    if (numbers === undefined || numbers === `${usual.connections}`) continue;
    namesByNumbers.set(numbers, [...(namesByNumbers.get(numbers) ?? []), name]);
  }
  return [...namesByNumbers].map(([numbers, names]) => `${numbers} for ${names.join(", ")}`).join(";\n".padEnd(26));
}

const memoryText = `
How memory is measured: each service is started afresh, answers a few requests, and after a second its RSS is read, with
no garbage collection forced. Then it is loaded from 32 connections, then from 512, with its RSS read every 100 ms; the
highest counts, and at 512 that of the 100,000 requests that follow too. Before and after these 100,000 the load stops and
a full garbage collection is forced, so that what has grown is what is held and not what waits to be collected: RSS, and
what is live (JavaScript heap and buffers), which a leak of 11 bytes a request would already take over its limit. RSS of
a process that keeps nothing varies by some MiB, so its limit is 10.
`;

const optionShapes = {
  only: { type: "string", multiple: true },
  rounds: { type: "string" },
  seconds: { type: "string" },
  connections: { type: "string" },
  json: { type: "string" },
  against: { type: "string" },
  "fail-on-regression": { type: "boolean", default: false },
  profile: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

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
