import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Problem } from "@petstore/core";
import type { Connection } from "./connection.js";
import type { ServerLimits } from "./limits.js";

/** Resolves when all of `connection.responses` are sent, or the connection is lost. */
function responsesSent(connection: Connection): Promise<void> {
  const newest = connection.responses.at(-1);
  // Not `events.once`, which rejects on 'error'.
  return newest === undefined || newest.closed
    ? Promise.resolve()
    : new Promise((resolve) => newest.once("close", resolve));
}

/** Drops all further input. The client can continue to write until it reads the response. */
export function stopReading(connection: Connection): void {
  if (!connection.isParsing) return;
  connection.isParsing = false;
  const { socket } = connection;
  socket.removeAllListeners("data");
  // Node's own 'end' listener would end the socket before the response is sent.
  socket.removeAllListeners("end");
  // A 'data' listener makes Node detach its native parser from the socket.
  socket.on("data", () => {});
  socket.resume();
}

/** Sends the queued data and FIN, then drops input until the client closes too or `lingerMs` have passed. */
export function closeGracefully(connection: Connection): void {
  const { socket, lingerMs } = connection;
  stopReading(connection);
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once("close", () => clearTimeout(timer));
}

/**
 * Ends the body of the newest request with the problem. The app responds to it, unless it has responded already. Then the
 * connection closes.
 */
export function failBody(connection: Connection, response: ServerResponse, problem: Problem): void {
  if (response.headersSent) {
    void responsesSent(connection).then(() => closeGracefully(connection));
  } else {
    response.shouldKeepAlive = false;
    response.req.destroy(problem);
  }
}

/** Node limits the time to receive a request, but not the time to send its response. */
export function closeSlowReaders(connections: Iterable<Connection>, limits: ServerLimits): void {
  for (const connection of connections) {
    const response = connection.responses.find(({ closed }) => !closed);
    if (!response?.writableEnded) continue;
    const forMs = connection.slowRead?.response === response ? connection.slowRead.forMs : 0;
    if (forMs >= limits.responseTimeoutMs) connection.socket.destroy();
    else connection.slowRead = { response, forMs: forMs + limits.timeoutCheckMs };
  }
}

/** Sends a response that is not in Node's own queue, after all earlier ones, and then closes the connection. */
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

/** Node keeps the parser in this property of the socket. It is not documented, but the same in Node.js 20 to 26. */
interface ParsedSocket {
  readonly parser?: {
    onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number;
  } | null;
}

/**
 * Drops all requests after the present one, whose body is still parsed. The parser handles a read of 64 KiB at once, which
 * can hold 2,500 requests, and no public method stops it. If its callback returns 2, Node's parser (llhttp) ignores the
 * rest of the read, as after an upgrade to another protocol.
 */
export function dropFurtherRequests(connection: Connection): void {
  const { parser } = connection.socket as Socket & ParsedSocket;
  if (!parser) return;
  parser.onIncoming = (request) => {
    // If the request asks for an upgrade, Node would otherwise close the connection before the responses are sent.
    request.upgrade = false;
    // The parser must not be detached while it runs.
    setImmediate(() => stopReading(connection));
    return 2;
  };
}
