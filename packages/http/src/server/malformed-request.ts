import { IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "@petstore/core";
import type { Connection } from "./connection.js";

interface RawAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Counts a request that never became one in the address's anonymous bucket, and renders its answer. */
export type AnswerMalformedRequest = (problem: Problem, remoteAddress: string | undefined) => Promise<RawAnswer>;

export interface MalformedRequestDeps {
  readonly connectionOf: (socket: Duplex) => Connection | undefined;
  readonly answerMalformedRequest: AnswerMalformedRequest;
  /** Told when `answerMalformedRequest` rejects; the connection is closed without an answer then. */
  readonly onFault: (error: unknown) => void;
}

/**
 * Answers what node:http refuses before, or after, the app sees a request: bad syntax, bad framing, timeouts. The
 * surprise is the order: responses the app still owes on the connection go first, and a request the app already has is
 * answered by the app, so each request has one answer.
 */
export function answerMalformedRequests(server: Server, deps: MalformedRequestDeps): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = deps.connectionOf(socket);
    const problem = problemOf(error);
    if (connection === undefined || problem === undefined) {
      socket.destroy();
      return;
    }
    // A refused request that waits for its turn can time out as well.
    if (connection.isDeaf) return;
    refuse(connection, problem, error.code, deps);
  });
}

function refuse(connection: Connection, problem: Problem, code: string | undefined, deps: MalformedRequestDeps): void {
  const { socket, newest } = connection;
  if (socket.bytesRead === 0) {
    // A connection on which nothing was ever asked timed out: there is nothing to answer or to count.
    socket.destroy();
    return;
  }
  connection.deafen();
  // Bytes after the last request of a connection are not a request (RFC 9112 section 9.6).
  if (code === "HPE_CLOSED_CONNECTION" || (connection.isFull && newest?.req.complete)) return;

  if (newest === undefined || newest.req.complete) {
    answer(connection, problem, deps).catch((error: unknown) => {
      deps.onFault(error);
      socket.destroy();
    });
  } else if (newest.headersSent) {
    void connection.settled().then(connection.hangUp);
  } else {
    newest.shouldKeepAlive = false;
    newest.req.destroy(problem);
  }
}

async function answer(connection: Connection, problem: Problem, deps: MalformedRequestDeps): Promise<void> {
  const { socket } = connection;
  const { status, headers, body } = await deps.answerMalformedRequest(problem, socket.remoteAddress);
  await connection.settled();
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Without a request to answer, a blank one: the serializer, with its checks of every header, stays Node's.
  const response = new ServerResponse(new IncomingMessage(socket));
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader("Content-Length", Buffer.byteLength(body));
  respondLast(connection, response);
  response.end(body);
}

/** Gives a response that is not in Node's own queue the connection, which ends after it. */
export function respondLast(connection: Connection, response: ServerResponse): void {
  response.shouldKeepAlive = false;
  response.assignSocket(connection.socket);
  response.once("finish", connection.hangUp);
}

/** `undefined` for a fault of the connection itself, on which nothing can be answered. */
function problemOf(error: NodeJS.ErrnoException): Problem | undefined {
  // The error itself holds the raw packet, and with it the client's key: it must not reach the log.
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
