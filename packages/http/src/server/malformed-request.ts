import type { Server } from "node:http";
import { Problem } from "@petstore/core";
import { failBody, stopReading } from "./closing.js";
import type { Connection } from "./connection.js";
import type { Connections } from "./connections.js";

/**
 * Handles bad syntax, bad framing and timeouts. If the app already has the request, the body ends with the problem, and the
 * app responds. Otherwise calls `refuse`.
 */
export function findMalformedRequests(
  server: Server,
  connections: Connections,
  refuse: (connection: Connection, problem: Problem) => void,
): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    const problem = problemOf(error);
    // A connection that timed out before its first byte has no request.
    if (connection === undefined || problem === undefined || connection.socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    // A refused request can time out while it waits for earlier responses.
    if (!connection.isParsing) return;
    stopReading(connection);
    const newest = connection.responses.at(-1);
    // Bytes after the last request of a connection are not a request (RFC 9112 section 9.6).
    if (error.code === "HPE_CLOSED_CONNECTION" || (connection.hasLastRequest && newest?.req.complete)) return;

    if (newest === undefined || newest.req.complete) refuse(connection, problem);
    else failBody(connection, newest, problem);
  });
}

/** Returns `undefined` if the connection failed, so that no response can be sent. */
function problemOf(error: NodeJS.ErrnoException): Problem | undefined {
  // Only the code: the error holds the raw packet with the API key, which must not reach the log.
  const cause = error.code;
  switch (cause) {
    case "HPE_HEADER_OVERFLOW":
      return new Problem("HEADERS_TOO_LARGE", undefined, { cause });
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new Problem("PAYLOAD_TOO_LARGE", "The chunk extensions of the request body exceed 16 KiB.", { cause });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Problem("REQUEST_TIMEOUT", undefined, { cause });
    default:
      return cause?.startsWith("HPE_") ? new Problem("MALFORMED_REQUEST", undefined, { cause }) : undefined;
  }
}
