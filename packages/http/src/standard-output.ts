import { pino } from "pino";

export interface StandardOutput {
  write(line: string): void;
  /** Returns when all that was written has left. */
  flush(): void;
}

/**
 * Lines leave in batches, at most a second late, and when the process ends. Those of one turn of the event loop are
 * gathered first: with each piece that it is given, sonic-boom copies all that it holds to count its bytes again.
 */
export function openStandardOutput(): StandardOutput {
  const stream = pino.destination({ dest: 1, sync: false, minLength: 16_000, periodicFlush: 1_000 });
  let held = "";

  function handOver(): void {
    if (held !== "") stream.write(held);
    held = "";
  }

  function flush(): void {
    // With what the stream has already, what is held may be enough to begin a write that nobody waits for.
    stream.flushSync();
    handOver();
    stream.flushSync();
  }

  process.once("exit", () => {
    if (held !== "") flush();
  });
  return {
    write(line) {
      if (held === "") setImmediate(handOver);
      held += line;
    },
    flush,
  };
}
