import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { choosePort } from "@petstore/embedded-postgres";
import { type Api, restRouter } from "./api.js";
import { type OutputFault, startProgram } from "./program.js";

export interface ServiceOptions {
  /** Its whole environment but for where it listens. */
  readonly environment: Readonly<Record<string, string>>;
  /** How far its clock is ahead; negative when it is behind. */
  readonly clockOffsetMs?: number;
  /** The REST API unless another is named. */
  readonly api?: Api;
  /** A free one unless it is to take another one's place. */
  readonly port?: number;
  /** Whether it can tell how long its event loop was blocked; not unless it is said. */
  readonly isProbed?: boolean;
  readonly outputFault?: OutputFault;
}

/** A service in a process of its own, known by what it answers and what it logs. Disposing ends it. */
export interface Service extends AsyncDisposable {
  readonly api: Api;
  readonly port: number;
  readonly origin: string;
  readonly pid: number;
  /** From its start to its first answer. */
  readonly startedWithinMs: number;
  /** Everything it has written so far, a line each. It writes in batches, at most a second late. */
  readonly output: readonly string[];
  hasEnded(): boolean;
  readiness(): Promise<Readiness>;
  /** Of its event loop, by its own work, since this was asked last. Rejects unless it is probed. */
  longestBlockMs(): Promise<number>;
  /** SIGKILL, effective before this returns; resolves at its end. */
  kill(): Promise<void>;
  /** Sends SIGTERM, once, and waits for the end. */
  stop(): Promise<Stopped>;
}

interface Stopped {
  /** `null` when it had to be killed. */
  readonly exitCode: number | null;
  readonly withinMs: number;
}

export type Readiness = "ready" | "degraded" | "not ready";

const timeoutMs = 15_000;

export async function startService(options: ServiceOptions): Promise<Service> {
  const { environment, clockOffsetMs = 0, api = restRouter, isProbed = false, outputFault } = options;
  const port = options.port ?? (await choosePort(undefined));
  const origin = `http://127.0.0.1:${port}`;
  const clock = await clockEnvironment(clockOffsetMs);
  const startMs = performance.now();
  const program = startProgram({
    main: api.main,
    environment: { ...environment, ...clock, HOST: "127.0.0.1", PORT: `${port}` },
    isProbed,
    outputFault,
  });
  while (!(await answers(origin))) {
    if (program.hasEnded() || performance.now() - startMs > timeoutMs) {
      await program.stop();
      throw new Error(`The service did not start: ${program.output.at(-1) ?? "it says nothing"}`);
    }
    await sleep(10);
  }
  return {
    api,
    port,
    origin,
    pid: program.pid,
    startedWithinMs: performance.now() - startMs,
    output: program.output,
    hasEnded: program.hasEnded,
    longestBlockMs: program.longestBlockMs,
    async readiness() {
      const response = await fetch(`${origin}/readyz`);
      const { status } = (await response.json()) as { readonly status: Readiness };
      return status;
    },
    async kill() {
      program.signal("SIGKILL");
      await program.ended;
    },
    async stop() {
      const startedAtMs = performance.now();
      return { exitCode: await program.stop(), withinMs: performance.now() - startedAtMs };
    },
    [Symbol.asyncDispose]: program[Symbol.asyncDispose],
  };
}

/**
 * A clock that is wrong, for this process alone. `faketime` itself would stand between us and the process, so it is only
 * asked for what it sets. The clock of the process's own timers goes on as it is.
 */
async function clockEnvironment(offsetMs: number): Promise<Readonly<Record<string, string>>> {
  if (offsetMs === 0) return {};
  const { stdout } = await promisify(execFile)("faketime", [
    "-f",
    `${offsetMs < 0 ? "" : "+"}${offsetMs / 1_000}s`,
    "env",
  ]);
  const told = stdout.split("\n").filter((line) => /^(LD_PRELOAD|FAKETIME)=/.test(line));
  return Object.fromEntries([...told, "FAKETIME_DONT_FAKE_MONOTONIC=1"].map((line) => split(line)));
}

function split(line: string): [string, string] {
  const end = line.indexOf("=");
  return [line.slice(0, end), line.slice(end + 1)];
}

async function answers(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/livez`)).ok;
  } catch {
    // Not listening yet.
    return false;
  }
}
