import { type ChildProcess, type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";

/** A process of ours that answers questions, one at a time. Disposing ends it: politely, then after 10 s by force. */
export interface Child extends AsyncDisposable {
  /** Rejects when the process ends before it answers. */
  ask(question: object): Promise<unknown>;
  /** Rejects when the process ends, and never resolves. */
  readonly ended: Promise<never>;
}

const timeoutMs = 10_000;

export function openChild(name: string, main: URL, options: ForkOptions): Child {
  const child = fork(main, options);
  const exit = exitOf(child);
  const ended = exit.then((reason) => {
    throw new Error(`${name} ended: ${reason}`);
  });
  // Whoever waits for an answer is told; while nobody does, the end is no fault yet.
  ended.catch(() => {});
  return {
    ended,
    async ask(question) {
      if (!child.connected) return ended;
      const waiting = new AbortController();
      const answer = once(child, "message", { signal: waiting.signal });
      answer.catch(() => {});
      child.send(question);
      try {
        return (await Promise.race([answer, ended]))[0];
      } finally {
        waiting.abort();
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
      await exit;
      clearTimeout(timer);
    },
  };
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
    // It could not be started, or was stopped through `options.signal`; the second is followed by its exit.
    child.on("error", (error) => {
      if (child.pid === undefined) resolve(error.message);
    });
  });
}
