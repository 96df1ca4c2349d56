import { parseArgs } from "node:util";
import { formatCapacity } from "./capacity.js";
import { readMeasurements, readNewestMeasurements } from "./measurements.js";

const help = `Usage: npm run capacity -- --requests-per-second <number> [options]

Prints what a load needs: instances, PostgreSQL, Redis, connections, look-ups of keys and memory, and which limit a growing
load reaches first. Computes it from the latest full run of npm run bench, and prints what it assumes.

Options:
  --requests-per-second <number>  the load, over both APIs together
  --keys <number>                 how many API keys are in use at the same time (10000)
  --results <file>                a result of npm run bench in place of the latest one in tools/bench/results
  --help                          print this text

Exit codes: 0 success, 1 no usable result of a benchmark, 2 the arguments are wrong.`;

export interface CapacityOutput {
  readonly exitCode: 0 | 1 | 2;
  /** For standard output if the exit code is 0, else for standard error. */
  readonly text: string;
}

/** Finds the newest result in the folder, unless the arguments name a file. */
export async function runCapacity(args: readonly string[], resultsFolder: string): Promise<CapacityOutput> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions(args);
  } catch (error) {
    return { exitCode: 2, text: `${messageOf(error)} (--help shows the options)` };
  }
  if (options === "help") return { exitCode: 0, text: help };
  try {
    const { results, load } = options;
    const measured = await (results === undefined ? readNewestMeasurements(resultsFolder) : readMeasurements(results));
    return { exitCode: 0, text: formatCapacity(measured, load) };
  } catch (error) {
    return { exitCode: 1, text: messageOf(error) };
  }
}

/** Throws if an argument is wrong. */
function readOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      "requests-per-second": { type: "string" },
      keys: { type: "string", default: "10000" },
      results: { type: "string" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  return {
    results: values.results,
    load: {
      requestsPerSecond: wholeNumber("--requests-per-second", values["requests-per-second"]),
      activeKeys: wholeNumber("--keys", values.keys),
    },
  };
}

function wholeNumber(option: string, text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,8}$/.test(text)) return Number(text);
  const found = text === undefined ? "is missing" : `cannot be "${text}"`;
  throw new Error(`${option} ${found}: it is a whole number from 1 to 999999999, without separators.`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : `${error}`;
}
