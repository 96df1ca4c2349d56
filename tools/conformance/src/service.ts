import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { choosePort } from "@petstore/embedded-postgres";
import type { CalledFunction } from "@petstore/harness/coverage-recorder";
import { serviceFlags } from "@petstore/harness/service-flags";

export type ServiceName = "rest" | "graphql";

/** A service in a process of its own, as an operator would run it. Disposing ends it. */
export interface Service extends AsyncDisposable {
  readonly origin: string;
  /** The longest time its event loop was blocked since this was asked last, in milliseconds. */
  longestBlockMs(): Promise<number>;
  /** The functions that have run since this was asked last. The first call starts the recording. */
  calledFunctions(): Promise<readonly CalledFunction[]>;
  readonly isAlive: boolean;
}

/** Four processes starting at once on a busy machine need several times what one needs. */
const startTimeoutMs = 60_000;
const endTimeoutMs = 15_000;

/** Loaded before the service. They answer for its event loop and its coverage. */
const probes = [
  import.meta.resolve("@petstore/harness/event-loop-probe"),
  import.meta.resolve("@petstore/harness/coverage-recorder"),
];

export async function startService(name: ServiceName, environment: Readonly<Record<string, string>>): Promise<Service> {
  const main = new URL(`../../../services/${name}/dist/main.js`, import.meta.url);
  const port = await choosePort(undefined);
  const origin = `http://127.0.0.1:${port}`;
  const child = fork(main, {
    execArgv: [...serviceFlags, ...probes.flatMap((probe) => ["--import", probe])],
    env: { LOG_LEVEL: "warn", ...environment, HOST: "127.0.0.1", PORT: `${port}` },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const exited = once(child, "close");
  const output = listen(child);
  const dispose = async (): Promise<void> => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), endTimeoutMs);
    await exited;
    clearTimeout(timer);
  };

  /** Sends a message to a probe. Rejects if the service ends before the reply. */
  async function ask(message: string): Promise<unknown> {
    const waiting = new AbortController();
    const reply = once(child, "message", { signal: waiting.signal });
    child.send(message);
    const ended = exited.then(() => {
      waiting.abort();
      throw new Error(`The ${name} service ended: ${output.join("\n") || "it says nothing"}`);
    });
    ended.catch(() => {});
    return (await Promise.race([reply, ended]))[0];
  }

  const startMs = performance.now();
  while (!(await answers(origin))) {
    if (child.exitCode !== null || performance.now() - startMs > startTimeoutMs) {
      await dispose();
      throw new Error(`The ${name} service did not start: ${output.join("\n") || "it says nothing"}`);
    }
    await sleep(20);
  }
  return {
    origin,
    get isAlive() {
      return child.exitCode === null && child.signalCode === null;
    },
    longestBlockMs: async () => (await ask("block")) as number,
    calledFunctions: async () => (await ask("coverage")) as readonly CalledFunction[],
    [Symbol.asyncDispose]: dispose,
  };
}

/** Reads what it writes, so that it can go on writing, and keeps the latest lines. */
function listen({ stdout, stderr }: ChildProcess): readonly string[] {
  const lines: string[] = [];
  for (const stream of [stdout, stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      if (lines.length > 20) lines.shift();
    });
  }
  return lines;
}

async function answers(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/livez`)).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}
