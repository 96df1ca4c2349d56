import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connection } from "./connections.js";
import type { ServerLimits } from "./server.js";

/** Resolves when every request handed to the app has its response; never, if the client leaves before that. */
export function responsesSent(connection: Connection): Promise<void> {
  const newest = connection.responses.at(-1);
  // Not `events.once`, which rejects on 'error'.
  return newest === undefined || newest.closed
    ? Promise.resolve()
    : new Promise((resolve) => newest.once("close", resolve));
}

/** Reads and drops all further input, so that the client can go on writing until it reads the answer. */
export function stopReading(connection: Connection): void {
  if (!connection.isParsing) return;
  connection.isParsing = false;
  const { socket } = connection;
  socket.removeAllListeners("data");
  // Node's own 'end' listener would close the writing side before the answer is on it.
  socket.removeAllListeners("end");
  // A 'data' listener makes node:http take the socket back from its native parser.
  socket.on("data", () => {});
  socket.resume();
}

/** Sends what is queued, then FIN, and drops input until the client closes too or `lingerMs` pass. */
export function closeGracefully(connection: Connection): void {
  const { socket, lingerMs } = connection;
  stopReading(connection);
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => clearTimeout(timer));
}

/** node:http bounds how long a request may take to arrive, not how long its response may take to leave. */
export function closeSlowReaders(connections: Iterable<Connection>, limits: ServerLimits): void {
  for (const connection of connections) {
    const response = connection.responses.find(({ closed }) => !closed);
    if (!response?.writableEnded) continue;
    const forMs = connection.slowRead?.response === response ? connection.slowRead.forMs : 0;
    if (forMs >= limits.responseTimeoutMs) connection.socket.destroy();
    else connection.slowRead = { response, forMs: forMs + limits.timeoutCheckMs };
  }
}

/** Sends a response that is not in Node's own queue, after all others. The connection ends after it. */
export function respondLast(connection: Connection, response: ServerResponse): void {
  const { socket } = connection;
  response.shouldKeepAlive = false;
  response.once("finish", () => {
    response.detachSocket(socket);
    response.emit("close");
    closeGracefully(connection);
  });
  void responsesSent(connection).then(() => {
    if (socket.writable) response.assignSocket(socket);
    else socket.destroy();
  });
}

/** node:http keeps the parser on the socket. Not documented, and the same in Node.js 20 to 26. */
interface ParsedSocket {
  readonly parser?: {
    onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number;
  } | null;
}

/**
 * The parser handles a whole read of 64 KiB at once. That can be 2,500 requests, each with a request and a response object,
 * and no public method stops it. We replace its callback. If the callback returns 2, Node's parser (llhttp) stops after this
 * request, as for an upgrade to another protocol, and ignores the rest of the read. The body of the last request is still
 * parsed.
 */
export function dropFurtherRequests(connection: Connection): void {
  const { parser } = connection.socket as Socket & ParsedSocket;
  if (!parser) return;
  parser.onIncoming = (request) => {
    // Otherwise node:http would end the connection of a request for an upgrade, before the answers are on it.
    request.upgrade = false;
    // Not while the parser runs.
    setImmediate(() => stopReading(connection));
    return 2;
  };
}
