import { open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-postgres";
import type { Contestant } from "./benchmark.js";
import { type Child, openChild } from "./child.js";
import type { ProbeQuestion, Retained, Usage } from "./probe.js";

/** A contestant that is running. */
export interface Server extends AsyncDisposable {
  readonly name: string;
  readonly origin: string;
  usage(): Promise<Usage>;
  /** Makes it collect all garbage. */
  retained(): Promise<Retained>;
  startProfile(): Promise<void>;
  writeProfile(file: string): Promise<void>;
}

export interface ServerOptions {
  readonly databaseUrl: string;
  readonly redisUrl: string | undefined;
  /** Where what it prints is kept, as a service's log would be; a pipe would cost the reader's time. */
  readonly directory: string;
  /** Settings that are not the default ones. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Loaded before the program, behind the probe. */
  readonly preload?: URL;
  /** Ends the process. */
  readonly signal: AbortSignal;
}

const startTimeoutMs = 30_000;

/** Starts a contestant in a process of its own, with its default configuration, and waits until it answers HTTP. */
export async function openServer(
  { name, main, nodeOptions = [] }: Pick<Contestant, "name" | "main" | "nodeOptions">,
  options: ServerOptions,
): Promise<Server> {
  const port = await choosePort(undefined);
  const origin = `http://127.0.0.1:${port}`;
  const output = await open(join(options.directory, `${name}.log`), "w");
  const child = openChild(name, main, {
    env: {
      NODE_ENV: "production",
      DATABASE_URL: options.databaseUrl,
      PORT: `${port}`,
      ...(options.redisUrl !== undefined && { REDIS_URL: options.redisUrl }),
      ...options.environment,
    },
    execArgv: [
      ...nodeOptions,
      ...[new URL("./probe.js", import.meta.url), ...(options.preload ? [options.preload] : [])].flatMap(({ href }) => [
        "--import",
        href,
      ]),
    ],
    stdio: ["ignore", output.fd, "inherit", "ipc"],
    signal: options.signal,
  });
  await output.close();
  const waiting = new AbortController();
  try {
    await Promise.race([untilAnswering(origin, waiting.signal), child.ended]);
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  } finally {
    // One that has ended is not waited for any longer.
    waiting.abort();
  }
  return {
    name,
    origin,
    usage: async () => (await ask(child, { kind: "usage" })) as Usage,
    retained: async () => (await ask(child, { kind: "retained" })) as Retained,
    startProfile: async () => void (await ask(child, { kind: "start-profile" })),
    writeProfile: async (file) => void (await ask(child, { kind: "write-profile", file })),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function ask(child: Child, question: ProbeQuestion): Promise<unknown> {
  const answer = await child.ask(question);
  if (answer instanceof Object && "error" in answer) throw new Error(`${answer.error}`);
  return answer;
}

async function untilAnswering(origin: string, signal: AbortSignal): Promise<void> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(startTimeoutMs)]);
  while (!ended.aborted) {
    try {
      await (await fetch(origin)).arrayBuffer();
      return;
    } catch {
      // Not listening yet.
      await delay(20);
    }
  }
  throw new Error(`Nothing answers at ${origin}`);
}
