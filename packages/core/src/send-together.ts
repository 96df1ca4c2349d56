import type { Writable } from "node:stream";

/** So that whoever answers begins while the rest is still being written. */
const mostBytes = 2_048;

/**
 * What is written to a stream until the event loop goes on leaves in few system calls: several small writes to one socket
 * cost more than all that is written. Called before each of them.
 */
export function sendTogether(stream: Writable): void {
  if (stream.writableCorked === 0) {
    stream.cork();
    process.nextTick(() => stream.uncork());
  } else if (stream.writableLength > mostBytes) {
    stream.uncork();
    stream.cork();
  }
}
