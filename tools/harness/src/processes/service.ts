import { choosePort } from "@petstore/embedded-postgres";
import { isAnswering } from "../network/http-client.js";
import type { CalledFunction } from "./probe.js";
import { type Program, startProgram } from "./program.js";
import { openTogether } from "./resources.js";

export interface ServiceOptions {
  /** The program of the service. */
  readonly main: URL;
  /** The whole environment, except HOST and PORT. NODE_ENV is `production` by default. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A free port by default. */
  readonly port?: number;
  /** How far its clock is ahead; negative when it is behind. Its timers are not changed. */
  readonly clockOffsetMs?: number;
  /** Loads the probe for `longestBlockMs` and `calledFunctions`. */
  readonly isProbed?: boolean;
}

/** The REST or GraphQL service in a process of its own. Disposing stops it. */
export interface Service extends Program {
  readonly origin: string;
  readonly port: number;
  /** The longest time its own work blocked its event loop since the previous call. */
  longestBlockMs(): Promise<number>;
  /** The functions that have run since the previous call. The first call starts the recording. */
  calledFunctions(): Promise<readonly CalledFunction[]>;
}

/**
 * The Node options of every service, as in its `start` script and in the images. The first keeps text from becoming
 * code, the others bound memory (decisions 0013 and 0014).
 */
export const serviceFlags: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--max-semi-space-size=16",
  "--max-old-space-size=384",
];

export const probe: string = new URL("./probe.js", import.meta.url).href;

/** Resolves when `/livez` answers 200. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { port = await choosePort(undefined) } = options;
  const origin = `http://127.0.0.1:${port}`;
  return openTogether(async (use) => {
    const program = use(startServiceProgram({ ...options, port }));
    await program.until(() => isAnswering(`${origin}/livez`));
    return {
      ...program,
      origin,
      port,
      longestBlockMs: async () => (await program.ask("block")) as number,
      calledFunctions: async () => (await program.ask("coverage")) as readonly CalledFunction[],
    };
  });
}

/** The same without waiting, for a start that fails. By default the service chooses its port. */
export function startServiceProgram(options: ServiceOptions): Program {
  const { main, environment, port = 0, clockOffsetMs = 0, isProbed = false } = options;
  const preloads = [...(isProbed ? [probe] : []), ...(clockOffsetMs === 0 ? [] : [clockPreload(clockOffsetMs)])];
  return startProgram({
    name: "The service",
    args: [...serviceFlags, ...preloads.flatMap((preload) => ["--import", preload]), main.pathname],
    // As in the images: without it, graphql checks the class of every type again for each field.
    environment: { NODE_ENV: "production", ...environment, HOST: "127.0.0.1", PORT: `${port}` },
    hasChannel: isProbed,
  });
}

function clockPreload(offsetMs: number): string {
  const script = `const Real = Date;
    const now = () => Real.now() + ${offsetMs};
    globalThis.Date = class Date extends Real {
      static now = now;
      constructor(...values) { super(...(values.length === 0 ? [now()] : values)); }
    };`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
}
