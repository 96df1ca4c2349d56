import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { searchPath } from "./installed-program.js";

export interface ProgramOptions {
  /** For error messages. */
  readonly name: string;
  /** This Node by default. */
  readonly command?: string;
  readonly args: readonly string[];
  /** The whole environment of the process, except PATH. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly directory?: string;
  /** The file descriptor of its standard output; by default its lines are kept in `output`. */
  readonly stdout?: number | undefined;
  /** Opens a channel for `ask`. The program must answer messages. */
  readonly hasChannel?: boolean;
  /** Runs the process as another user. Only root may do this. */
  readonly user?: { readonly uid?: number; readonly gid?: number };
}

/** A child process. Disposing stops it. It also ends when this process exits. */
export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Every line that it has written to standard output and standard error. */
  readonly output: readonly string[];
  /** The lines of `output` that it has written to standard error. */
  readonly errorOutput: readonly string[];
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<Exit>;
  hasEnded(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Waits until the condition holds. Rejects with the output when the process ends before, or after `timeoutMs`. */
  until(holds: () => boolean | Promise<boolean>, timeoutMs?: number): Promise<void>;
  /** Waits until the output matches. Rejects like `until`. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a message and returns the answer. One message at a time. Rejects when the process ends before. */
  ask(message: unknown): Promise<unknown>;
  /** SIGKILL, effective before this returns. Resolves at the end of the process. */
  kill(): Promise<Exit>;
  /** SIGTERM, and SIGKILL after 15 s. */
  stop(): Promise<Exit>;
}

type Exit = number | NodeJS.Signals;

/** A busy machine needs several times the usual start time. */
const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

export function startProgram(options: ProgramOptions): Program {
  const { name, command = process.execPath, args, environment, directory, user, hasChannel = false } = options;
  const stdio: StdioOptions = ["ignore", options.stdout ?? "pipe", "pipe", ...(hasChannel ? ["ipc" as const] : [])];
  const child: ChildProcess = spawn(command, args, {
    env: { PATH: searchPath(), ...environment },
    cwd: directory,
    stdio,
    ...user,
  });
  const output: string[] = [];
  const errorOutput: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream }).on("line", (line) => {
      output.push(line);
      if (stream === child.stderr) errorOutput.push(line);
    });
  }
  // Resolves after the last output. A program that cannot be started has the exit code 127, as in a shell.
  const ended = new Promise<Exit>((resolve) => {
    child.once("close", (code, signal) => resolve(code ?? signal ?? 0));
    child.on("error", (error) => {
      output.push(error.message);
      if (child.pid === undefined) resolve(127);
    });
  });
  const killChild = (): void => void child.kill("SIGKILL");
  process.once("exit", killChild);
  void ended.then(() => process.off("exit", killChild));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const fault = (what: string): Error => new Error(`${name} ${what}: ${output.join("\n") || "it printed nothing"}`);
  const endedEarly = async (): Promise<never> => {
    await ended;
    throw fault("has ended");
  };

  async function until(holds: () => boolean | Promise<boolean>, timeoutMs = startTimeoutMs): Promise<void> {
    const startMs = performance.now();
    while (!(await holds())) {
      if (hasEnded()) {
        // The last lines arrive after the exit.
        await ended;
        return (await holds()) ? undefined : endedEarly();
      }
      if (performance.now() - startMs > timeoutMs) throw fault(`is not ready after ${timeoutMs / 1_000} s`);
      await sleep(10);
    }
  }

  let killTimer: NodeJS.Timeout | undefined;
  async function stop(): Promise<Exit> {
    // A second SIGTERM would tell a service to skip its shutdown.
    if (killTimer === undefined) child.kill("SIGTERM");
    killTimer ??= setTimeout(killChild, stopTimeoutMs);
    const exit = await ended;
    clearTimeout(killTimer);
    return exit;
  }

  return {
    pid: child.pid ?? 0,
    output,
    errorOutput,
    ended,
    hasEnded,
    signal: (signal) => void child.kill(signal),
    until,
    async printed(pattern) {
      const find = () => pattern.exec(output.join("\n"));
      await until(() => find() !== null);
      return find() ?? endedEarly();
    },
    async ask(message) {
      const waiting = new AbortController();
      const answer = once(child, "message", { signal: waiting.signal });
      answer.catch(() => {});
      try {
        if (child.connected) child.send(message as object);
        // Not `endedEarly`: at the end of the program, it would make an error with the whole output for each question.
        const received = await Promise.race([answer, ended.then(() => undefined)]);
        if (received === undefined) throw fault("has ended");
        return received[0];
      } finally {
        waiting.abort();
      }
    },
    kill() {
      killChild();
      return ended;
    },
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}
