import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { serviceFlags } from "@petstore/harness/service-flags";

/** A program of ours in a process of its own. Disposing ends it, by SIGKILL if it must. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Everything it has written so far, a line each. */
  readonly output: readonly string[];
  hasEnded(): boolean;
  /** Its exit code; `null` when a signal ended it. */
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
  /** Of its event loop, by its own work, since this was asked last. Rejects unless it is probed. */
  longestBlockMs(): Promise<number>;
  /** Sends SIGTERM, once, and waits for the end. */
  stop(): Promise<number | null>;
}

export interface ProgramOptions {
  readonly main: URL;
  readonly words?: readonly string[];
  /** All of it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether it can tell how long its event loop was blocked; not unless it is said. */
  readonly isProbed?: boolean;
  /** What is wrong with its standard output, where something is. Nothing of it is heard then. */
  readonly outputFault?: OutputFault | undefined;
}

/** A full disk, a reader that has ended, and one that has stopped. */
export type OutputFault = "full" | "closed" | "not read";

const timeoutMs = 15_000;
const probe = import.meta.resolve("@petstore/harness/event-loop-probe");

export function startProgram(options: ProgramOptions): Program {
  const { main, words = [], environment, isProbed = false, outputFault } = options;
  const stdout = outputFault === "full" ? openSync("/dev/full", "w") : "pipe";
  const child: ChildProcess = spawn(
    process.execPath,
    [...serviceFlags, ...(isProbed ? ["--import", probe] : []), main.pathname, ...words],
    { env: { ...environment }, stdio: ["ignore", stdout, "pipe", ...(isProbed ? ["ipc" as const] : [])] },
  );
  const output: string[] = [];
  if (typeof stdout === "number") closeSync(stdout);
  if (outputFault === "closed") child.stdout?.destroy();
  // What nobody has read would keep it from being closed.
  if (outputFault === "not read") child.once("exit", () => child.stdout?.destroy());
  for (const stream of outputFault === undefined ? [child.stdout, child.stderr] : [child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", (line) => output.push(line));
  }
  const ended = once(child, "close").then(() => child.exitCode);
  // Whoever ends this process ends what it has started.
  const orphan = () => child.kill("SIGKILL");
  process.once("exit", orphan);
  void ended.then(() => process.off("exit", orphan));

  async function end(): Promise<number | null> {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const exitCode = await ended;
    clearTimeout(timer);
    return exitCode;
  }

  let ending: Promise<number | null> | undefined;
  const stop = (): Promise<number | null> => {
    ending ??= end();
    return ending;
  };
  return {
    pid: child.pid ?? 0,
    output,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    ended,
    signal: (name) => void child.kill(name),
    async longestBlockMs() {
      const answer = once(child, "message", { signal: AbortSignal.timeout(timeoutMs) });
      child.send("block");
      return (await answer)[0] as number;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
