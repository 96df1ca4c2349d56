import { pino } from "pino";

/** Disposing writes what is still held back, as does the end of the process. */
export interface StandardOutput extends Disposable {
  write(line: string): void;
  /** Returns when all that was written has left. */
  flush(): void;
}

const mostHeld = 16_000;
const longestHeldMs = 1_000;

/**
 * Lines are written in batches, at most a second late. They are gathered here because sonic-boom, asked to gather them,
 * copies all that it holds to count its bytes again with every line.
 */
export function openStandardOutput(): StandardOutput {
  const stream = pino.destination({ dest: 1, sync: false });
  let held = "";

  function writeHeld(): void {
    if (held !== "") stream.write(held);
    held = "";
  }

  function flush(): void {
    writeHeld();
    stream.flushSync();
  }

  const timer = setInterval(writeHeld, longestHeldMs).unref();
  process.once("exit", flush);
  return {
    write(line) {
      held += line;
      if (held.length >= mostHeld) writeHeld();
    },
    flush,
    [Symbol.dispose]() {
      clearInterval(timer);
      process.off("exit", flush);
      flush();
    },
  };
}
