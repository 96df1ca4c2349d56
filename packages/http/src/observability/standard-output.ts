/**
 * Standard output and standard error may go to a full disk, a closed pipe or a pipe that nobody reads. The process must not
 * wait for them: text is put into a bounded buffer, and dropped if the buffer is full.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import sonicBoom from "sonic-boom";

export interface StandardOutput {
  /** Writes a line at most a second later, together with others. */
  write(line: string): void;
  /** Writes text, and the lines before it, without delay. */
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
 * Not `pino.destination()`: at `exit` it retries an error for ever, and at the first EPIPE it turns the log off without
 * counting the lines.
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

  /** `flushSync` would retry an error for ever. With `minLength: 0`, a write continues until the buffer is empty. */
  function writeRest(sync: boolean): void {
    giveUpAtMs = Math.min(giveUpAtMs, performance.now() + flushTimeoutMs);
    Object.assign(stream, { minLength: 0, sync });
    stream.write("");
  }

  // If no `flush` came before the exit, lines after a write in flight are lost: nothing can wait for this write.
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

/** Writes a line on standard error, or drops the line if it cannot be written for 200 ms. */
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
 * Node makes a pipe non-blocking when `process.stdout` is read. `process.exit` would wait for the thread of a blocking
 * write to a full pipe. The error listener prevents a crash when Node itself prints.
 */
function makeNonBlocking(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.listenerCount("error") === 0) stream.on("error", () => {});
  }
}
