/**
 * Standard output and standard error may go to a full disk, a closed pipe or a pipe that nobody reads. None of these may
 * hold up the process: text waits in a bounded buffer, and is dropped when the buffer is full.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import sonicBoom from "sonic-boom";

export interface StandardOutput {
  /** Writes a line together with others, at most a second later. */
  write(line: string): void;
  /** Writes text for a person, and the lines before it, without delay. */
  print(text: string): void;
  dropped(): number;
  /** Writes the buffer. Resolves at the first error, and after 200 ms at the latest; never rejects. */
  flush(): Promise<void>;
}

const flushTimeoutMs = 200;
/** sonic-boom's own pause after EAGAIN. */
const retryMs = 100;
/** About 4,000 lines. */
const maxBufferBytes = 1_048_576;

/**
 * The stream of `pino.destination()`, without its two additions: a hook on `exit` that retries every error for ever, and a
 * listener that turns the log off at the first EPIPE without counting the lines.
 */
export function openStandardOutput(): StandardOutput {
  makeNonBlocking();
  let giveUpAtMs = Number.POSITIVE_INFINITY;
  let dropped = 0;
  const stream = new sonicBoom.SonicBoom({
    fd: 1,
    sync: false,
    minLength: 16_000,
    maxLength: maxBufferBytes,
    periodicFlush: 1_000,
    retryEAGAIN: () => performance.now() + retryMs < giveUpAtMs,
  });
  // After an error the stream keeps its buffer, and tries again with the next line or a second later.
  stream.on("error", () => {});
  stream.on("drop", () => {
    dropped += 1;
  });

  /** `flushSync` would retry every error for ever. With `minLength: 0`, a write continues until the buffer is empty. */
  function writeRest(sync: boolean): void {
    giveUpAtMs = Math.min(giveUpAtMs, performance.now() + flushTimeoutMs);
    Object.assign(stream, { minLength: 0, sync });
    stream.write("");
  }

  // Without a `flush` before the exit, the lines behind a write in flight are lost: nothing can wait for its end any more.
  process.once("exit", () => writeRest(true));
  return {
    write: stream.write.bind(stream),
    print(text) {
      stream.write(text);
      stream.flush();
    },
    dropped: () => dropped,
    async flush() {
      // Lines that cannot be written are lost.
      const written = once(stream, "drain").catch(() => {});
      writeRest(false);
      await Promise.race([written, sleep(flushTimeoutMs, undefined, { ref: false })]);
    },
  };
}

/** Writes a line on standard error at once, or drops it when that is impossible for 200 ms. */
export function printError(error: unknown): void {
  makeNonBlocking();
  const giveUpAtMs = performance.now() + flushTimeoutMs;
  const stream = new sonicBoom.SonicBoom({
    fd: 2,
    sync: true,
    retryEAGAIN: () => performance.now() + retryMs < giveUpAtMs,
  });
  stream.on("error", () => {});
  stream.write(`${error instanceof Error ? error.message : error}\n`);
}

/**
 * Reading `process.stdout` makes Node set the pipe non-blocking. A write to a full pipe that blocks would hold a thread that
 * `process.exit` waits for. The error listener stops Node from crashing when it prints itself.
 */
function makeNonBlocking(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount("error") === 0) stream.on("error", () => {});
  }
}
