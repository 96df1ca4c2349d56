import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { serviceFlags } from "@petstore/harness/service-flags";

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

export interface ProcessAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
  readonly durationMs: number;
  /** The time of its arrival, of `performance.now()`. */
  readonly atMs: number;
}

/** The service as an operator runs it: a separate process that is configured only by its environment. */
export interface ServiceProcess extends AsyncDisposable {
  get(path: string, key?: string, method?: string): Promise<ProcessAnswer>;
  /** The text on standard error until now. */
  readonly complaints: () => string;
  /** The exit code, or the signal that ended it; `undefined` while it runs. */
  readonly ended: () => number | NodeJS.Signals | undefined;
  readonly end: Promise<unknown>;
  signal(name: NodeJS.Signals): void;
}

/** Resolves when the service listens or has ended. */
export async function startProcess(environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [...serviceFlags, main], {
    env: { PATH: process.env.PATH, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const end = once(child, "close");
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    complaints += chunk;
  });
  const origin = await new Promise<string | undefined>((resolve) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const url = /"url":"([^"]+)"/.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    });
    void end.then(() => resolve(undefined));
  });
  const agent = new Agent({ keepAlive: true });

  return {
    async get(path, key, method = "GET") {
      const startedAtMs = performance.now();
      const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(`${origin}${path}`, { agent, headers, method }, resolve).on("error", reject).end();
      });
      const body = await text(response);
      const atMs = performance.now();
      return {
        status: response.statusCode ?? 0,
        retryAfter: response.headers["retry-after"],
        text: body,
        durationMs: atMs - startedAtMs,
        atMs,
      };
    },
    complaints: () => complaints,
    ended: () => child.exitCode ?? child.signalCode ?? undefined,
    end,
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      child.kill("SIGKILL");
      await end;
    },
  };
}
