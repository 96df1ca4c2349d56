import { randomUUID } from "node:crypto";
import { IncomingMessage, type Server, ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import type { Logger } from "pino";
import { roundToMicroseconds } from "../observability/log.js";
import type { RequestMetrics } from "../observability/request-metrics.js";
import { type Admission, rateLimitHeaders } from "../pipeline/admission.js";
import { jsonMediaType } from "../pipeline/json-response.js";
import { helpLink, problemHeaders } from "../pipeline/problem-response.js";
import { closeGracefully, respondLast, responsesSent, stopReading } from "./closing.js";
import { type Connection, type Connections, newestResponse } from "./connections.js";

/** Counts the request for its client address and builds the response. */
export type AnswerMalformedRequest = (
  problem: Problem,
  remoteAddress: string | undefined,
) => Promise<{ readonly status: number; readonly headers: readonly [string, string][]; readonly body: string }>;

export interface MalformedRequestDeps {
  readonly connections: Connections;
  readonly answerMalformedRequest: AnswerMalformedRequest;
  /** Receives the error when `answerMalformedRequest` rejects. The connection is then closed without an answer. */
  readonly onError: (error: unknown) => void;
}

/** The answer to a malformed request has the headers, the log line and the metrics of any other. */
export function createMalformedRequestResponse(
  admission: Pick<Admission, "countMalformedRequest">,
  log: Pick<Logger, "info">,
  metrics: Pick<RequestMetrics, "malformed">,
  monotonicNow: () => number,
): AnswerMalformedRequest {
  return async (clientError, remoteAddress) => {
    const startedAtMs = monotonicNow();
    const requestId = randomUUID();
    const { decision, problem } = await admission.countMalformedRequest(clientError, remoteAddress);
    const { code, status } = problem;
    const durationMs = monotonicNow() - startedAtMs;
    metrics.malformed(code, status, durationMs);
    const request = { requestId, clientAddress: remoteAddress, route: "malformed", status };
    log.info({ ...request, durationMs: roundToMicroseconds(durationMs), code }, "request completed");
    return {
      status: problem.status,
      headers: [
        ["X-Request-Id", requestId],
        ["Cache-Control", "no-store"],
        ["X-Content-Type-Options", "nosniff"],
        ["Access-Control-Allow-Origin", "*"],
        ...rateLimitHeaders(decision),
        ...problemHeaders(problem),
        ["Link", helpLink(problem.code)],
        ["Content-Type", jsonMediaType],
      ],
      body: JSON.stringify(problem),
    };
  };
}

/**
 * Answers client errors that node:http finds before or after the app sees the request: bad syntax, bad framing, timeouts.
 * Earlier requests of the connection are answered first. A request that the app already has is answered by the app, so
 * each request has one answer.
 */
export function answerMalformedRequests(server: Server, deps: MalformedRequestDeps): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = deps.connections.get(socket);
    const problem = problemOf(error);
    if (connection === undefined || problem === undefined) {
      socket.destroy();
      return;
    }
    // A malformed request that waits for earlier responses can time out too.
    if (!connection.isParsing) return;
    refuse(connection, problem, error.code, deps);
  });
}

function refuse(connection: Connection, problem: Problem, code: string | undefined, deps: MalformedRequestDeps): void {
  const { socket } = connection;
  const newest = newestResponse(connection);
  if (socket.bytesRead === 0) {
    // An unused connection timed out: there is nothing to answer or to count.
    socket.destroy();
    return;
  }
  stopReading(connection);
  // Bytes after the last request of a connection are not a request (RFC 9112 section 9.6).
  if (code === "HPE_CLOSED_CONNECTION" || (connection.hasLastRequest && newest?.req.complete)) return;

  if (newest === undefined || newest.req.complete) {
    answer(connection, problem, deps).catch((error: unknown) => {
      deps.onError(error);
      socket.destroy();
    });
  } else if (newest.headersSent) {
    void responsesSent(connection).then(() => closeGracefully(connection));
  } else {
    newest.shouldKeepAlive = false;
    newest.req.destroy(problem);
  }
}

async function answer(connection: Connection, problem: Problem, deps: MalformedRequestDeps): Promise<void> {
  const { socket } = connection;
  const { status, headers, body } = await deps.answerMalformedRequest(problem, socket.remoteAddress);
  await responsesSent(connection);
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // There is no request. With an empty one, Node writes the response and checks its headers as usual.
  const response = new ServerResponse(new IncomingMessage(socket));
  response.statusCode = status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader("Content-Length", Buffer.byteLength(body));
  respondLast(connection, response);
  response.end(body);
}

/** Returns `undefined` for an error of the connection itself, on which no response can be sent. */
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
