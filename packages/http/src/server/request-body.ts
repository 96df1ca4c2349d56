/** Drops a body that nothing reads, and refuses a body in tiny chunks. */
import type { ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import { closeGracefully, failBody, stopReading } from "./closing.js";
import type { Connection } from "./connection.js";
import type { ServerLimits } from "./limits.js";

/** Drops the rest of a body that the app did not read, up to `maxDrainedBytes`, so that the client can read the response. */
export function drainUnreadBody(connection: Connection, response: ServerResponse, limits: ServerLimits): void {
  const request = response.req;
  const { socket } = connection;
  // Runs before Node's own listener, which would drop the rest of the body without a limit.
  response.prependOnceListener("finish", () => {
    if (request.complete) return;
    const readBefore = socket.bytesRead;
    request.on("data", () => {
      // Not the length of the data: a chunk of one byte takes six bytes.
      const isTooLong = socket.bytesRead - readBefore > limits.maxDrainedBytes;
      if (isTooLong && connection.isParsing) closeGracefully(connection);
    });
    request.resume();
  });
}

/** A longer body may have one further chunk for each 64 bytes. */
const freeChunks = 1_000;
const bytesPerFurtherChunk = 64;
const tinyChunks = "The request body has too many chunks of a few bytes; send larger chunks.";

/**
 * Node's parser calls JavaScript for each chunk, so 1 MiB in chunks of one byte costs 0.15 s, even if it is dropped. A body
 * with too many tiny chunks is refused, and nothing more of the connection is parsed.
 */
export function refuseTinyChunks(connection: Connection, response: ServerResponse): void {
  const request = response.req;
  const push = request.push.bind(request);
  let chunks = 0;
  let bytes = 0;
  let isRefused = false;
  // Node's parser passes each chunk to this method, whether the app reads the body or not. If it returned false, Node would
  // stop reading from the socket.
  request.push = (chunk: Buffer | null) => {
    if (chunk === null) return push(chunk);
    if (isRefused) return true;
    chunks += 1;
    bytes += chunk.length;
    if (chunks <= freeChunks + bytes / bytesPerFurtherChunk) return push(chunk);
    isRefused = true;
    failBody(connection, response, new Problem("PAYLOAD_TOO_LARGE", tinyChunks));
    // The parser must not be detached while it runs.
    setImmediate(() => stopReading(connection));
    return true;
  };
}
