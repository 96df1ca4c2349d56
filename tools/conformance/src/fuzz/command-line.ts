import { parseArgs } from "node:util";
import type { ApiOf } from "./wire.js";

export type Command =
  | { readonly kind: "help" }
  | ({ readonly kind: "run" } & RunOptions)
  /** What was said cannot be understood; `reason` says why. */
  | { readonly kind: "unclear"; readonly reason: string };

export interface RunOptions {
  /** For each API. */
  readonly requests: number;
  /** Absent where it is to be chosen. */
  readonly seed: number | undefined;
  readonly apis: readonly ApiOf[];
  /** The run ends then, whatever it has sent. */
  readonly maxSeconds: number | undefined;
  readonly replay: Replay | undefined;
  readonly jsonFile: string | undefined;
}

/** One case of an earlier run, as its report names it. */
interface Replay {
  readonly kind: string;
  readonly seed: number;
  readonly path: string;
}

export const defaultRequests = 100_000;

export function readCommandLine(words: readonly string[]): Command {
  try {
    const { values } = parseArgs({ args: [...words], options: optionShapes });
    if (values.help) return { kind: "help" };
    const { only, json: jsonFile } = values;
    if (only !== undefined && only !== "rest" && only !== "graphql") {
      return { kind: "unclear", reason: "--only must be rest or graphql." };
    }
    return {
      kind: "run",
      requests: whole("requests", values.requests) ?? defaultRequests,
      seed: whole("seed", values.seed),
      apis: only === undefined ? ["rest", "graphql"] : [only],
      maxSeconds: whole("seconds", values.seconds),
      replay: readReplay(values.replay),
      jsonFile,
    };
  } catch (error) {
    return { kind: "unclear", reason: error instanceof Error ? error.message : `${error}` };
  }
}

export const helpText: string = `Usage: npm run fuzz -- [options]

Starts a REST and a GraphQL service as processes of their own, over a private PostgreSQL and a private Redis, and sends
them requests drawn from the OpenAPI document and from schema.graphql: valid ones, hostile ones, and the same through
both APIs. Counts what must not happen; the exit code is 1 when anything did, or when an API had fewer requests than
asked for. What fails is made as small as it can be and printed for a terminal. Needs redis-server in PATH.

Options:
  --requests <n>     for each API (default ${defaultRequests.toLocaleString("en")})
  --seconds <n>      stop after so long, whatever has been sent; fewer requests are no failure then
  --seed <n>         draw the cases of an earlier run
  --only <API>      rest or graphql: nothing is compared between the APIs then
  --replay <case>    play one case of a report again, and make it smaller
  --json <file>      write every number to this file
  --help             show this`;

const optionShapes = {
  requests: { type: "string" },
  seconds: { type: "string" },
  seed: { type: "string" },
  only: { type: "string" },
  replay: { type: "string" },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

function whole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`--${name} must be a whole number from 1 to 999999999.`);
  return Number(text);
}

function readReplay(text: string | undefined): Replay | undefined {
  if (text === undefined) return undefined;
  const [, kind, seed, path] = /^(twins|rest|graphql)\/(\d{1,10})\/(\d+(?::\d+)*)$/.exec(text) ?? [];
  if (kind === undefined || seed === undefined || path === undefined) {
    throw new Error("--replay must be a case as a report names it: twins/1234/56:0.");
  }
  return { kind, seed: Number(seed), path };
}
