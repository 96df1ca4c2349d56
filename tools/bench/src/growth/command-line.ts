import { parseArgs } from "node:util";
import type { GrowthOptions, Part } from "./part.js";

export type Command =
  | { readonly kind: "help" }
  | {
      readonly kind: "run";
      readonly parts: readonly Part[];
      readonly options: GrowthOptions;
      readonly jsonFile: string | undefined;
    }
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

export function readCommandLine(words: readonly string[], parts: readonly Part[]): Command {
  try {
    const { values } = parseArgs({ args: [...words], options: optionShapes });
    if (values.help) return { kind: "help" };
    const { only, json: jsonFile } = values;
    const unknown = only?.find((name) => parts.every((part) => part.name !== name));
    if (unknown !== undefined) {
      const names = parts.map(({ name }) => name).join(", ");
      return { kind: "unclear", reason: `There is no part ${unknown}. The parts are: ${names}.` };
    }
    return {
      kind: "run",
      parts: parts.filter(({ name }) => only === undefined || only.includes(name)),
      options: {
        rounds: wholeNumber("rounds", values.rounds, { from: 1, to: 1_000 }),
        seconds: decimal("seconds", values.seconds, { from: 0.1, to: 1_000 }),
        connections: wholeNumber("connections", values.connections, { from: 1, to: 1_000 }),
        page: wholeNumber("page", values.page, { from: 2, to: 500_000 }),
        rows: wholeNumber("rows", values.rows, { from: 1_000, to: 100_000_000 }),
        soakSeconds: wholeNumber("soak-seconds", values["soak-seconds"], { from: 1, to: 86_400 }),
        leakBytes: wholeNumber("leak", values.leak, { from: 0, to: 1_000_000 }),
        idleConnections: wholeNumber("idle", values.idle, { from: 1, to: 25_000 }),
        // The services close a connection that has been idle for 75 s.
        holdSeconds: wholeNumber("hold-seconds", values["hold-seconds"], { from: 1, to: 60 }),
      },
      jsonFile,
    };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export function helpText(parts: readonly Part[]): string {
  const rows = parts.map(({ name, summary }) => `  ${name.padEnd(8)}${summary}`);
  return `Usage: npm run growth -- [options]

Shows what a request costs, and what a service holds, as the store grows: each API in a process of its own, over one
private PostgreSQL and Redis, which must be in PATH. Needs Linux, whose /proc tells what PostgreSQL's processes use. All
parts take half an hour on two cores, and 3 GB of disk; Ctrl-C stops them and all they have started. The exit code is 1
when a goal is missed.

Parts:
${rows.join("\n")}

Options:
  --only <part>        only this part; may be repeated
  --rounds <n>         how often each case is measured (default ${defaults.rounds})
  --seconds <n>        how long, each time (default ${defaults.seconds})
  --connections <n>    how many connections make the load (default ${defaults.connections})
  --page <n>           pages: which page is compared with the first (default ${defaults.page})
  --rows <n>           rows: how many pets the largest table has (default ${defaults.rows})
  --soak-seconds <n>   soak: how long (default ${defaults["soak-seconds"]})
  --leak <bytes>       soak: let the services keep so much of every request, to see it found
  --idle <n>           idle: how many connections (default ${defaults.idle})
  --hold-seconds <n>   idle: how long they are held, at most 60 (default ${defaults["hold-seconds"]})
  --json <file>        write every measurement to this file
  --help               show this
`;
}

const defaults = {
  rounds: "10",
  seconds: "2",
  connections: "32",
  page: "10000",
  rows: "10000000",
  "soak-seconds": "600",
  leak: "0",
  idle: "10000",
  "hold-seconds": "30",
} as const;

const optionShapes = {
  only: { type: "string", multiple: true },
  rounds: { type: "string", default: defaults.rounds },
  seconds: { type: "string", default: defaults.seconds },
  connections: { type: "string", default: defaults.connections },
  page: { type: "string", default: defaults.page },
  rows: { type: "string", default: defaults.rows },
  "soak-seconds": { type: "string", default: defaults["soak-seconds"] },
  leak: { type: "string", default: defaults.leak },
  idle: { type: "string", default: defaults.idle },
  "hold-seconds": { type: "string", default: defaults["hold-seconds"] },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

interface Range {
  readonly from: number;
  readonly to: number;
}

function wholeNumber(name: string, text: string, { from, to }: Range): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= from && number <= to) return number;
  throw new Error(`--${name} must be a whole number from ${from} to ${to}.`);
}

function decimal(name: string, text: string, { from, to }: Range): number {
  const number = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && number >= from && number <= to) return number;
  throw new Error(`--${name} must be a number from ${from} to ${to}.`);
}
