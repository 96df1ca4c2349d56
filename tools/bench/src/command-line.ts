import { parseArgs } from "node:util";
import type { Comparable, CompareOptions } from "./comparison.js";

type Named = Pick<Comparable, "name" | "summary" | "defaultConnections">;

export type Command<Benchmark extends Named> =
  | { readonly kind: "help" }
  | { readonly kind: "run"; readonly benchmark: Benchmark; readonly options: RunOptions }
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

interface RunOptions extends CompareOptions {
  readonly jsonFile?: string | undefined;
}

export function readCommandLine<Benchmark extends Named>(
  words: readonly string[],
  benchmarks: readonly Benchmark[],
): Command<Benchmark> {
  try {
    const { values, positionals } = parseArgs({ args: [...words], options: optionShapes, allowPositionals: true });
    if (values.help) return { kind: "help" };
    const [name, ...rest] = positionals;
    const benchmark = benchmarks.find((candidate) => candidate.name === name);
    if (benchmark === undefined || rest.length > 0) {
      const names = benchmarks.map((candidate) => candidate.name).join(", ");
      return { kind: "unclear", reason: `Name one benchmark: ${names}.` };
    }
    return {
      kind: "run",
      benchmark,
      options: {
        rounds: wholeNumber("rounds", values.rounds),
        seconds: wholeNumber("seconds", values.seconds),
        connections: wholeNumber("connections", values.connections ?? connectionsOf(benchmark)),
        jsonFile: values.json,
        profileDirectory: values.profile,
      },
    };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export function helpText(benchmarks: readonly Named[]): string {
  const lines = benchmarks.map(({ name, summary }) => `  ${name.padEnd(20)}${summary}`);
  const connections = [
    defaults.connections,
    ...benchmarks
      .filter(({ defaultConnections }) => defaultConnections !== undefined)
      .map(({ name, defaultConnections }) => `for ${name} ${defaultConnections}`),
  ].join(", ");
  return `Usage: npm run bench -- <benchmark> [options]

Measures ours and others in turns, each in a process of its own over one private PostgreSQL or Redis. The exit code is 1
when a goal is missed.

Benchmarks:
${lines.join("\n")}

Options:
  --rounds <n>        how often each contestant is measured (default ${defaults.rounds})
  --seconds <n>       how long, each time (default ${defaults.seconds})
  --connections <n>   how many connections, or callers, at once (default ${connections})
  --json <file>       write every round to this file
  --profile <dir>     write a CPU profile of each contestant to this directory, from one more round
  --help              show this
`;
}

const defaults = { rounds: "10", seconds: "3", connections: "32" } as const;

const optionShapes = {
  rounds: { type: "string", default: defaults.rounds },
  seconds: { type: "string", default: defaults.seconds },
  connections: { type: "string" },
  json: { type: "string" },
  profile: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

function connectionsOf({ defaultConnections }: Named): string {
  return defaultConnections === undefined ? defaults.connections : `${defaultConnections}`;
}

function wholeNumber(name: string, text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number from 1 to 99999.`);
}
