import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import type { Express } from "express";
import { closeGracefully, respondLast } from "./closing.js";
import { type Connection, type Connections, trackConnections } from "./connections.js";
import { findMalformedRequests } from "./malformed-request.js";

/** The time, the memory and the connections that clients can take from the server. Tests set smaller limits. */
const defaultLimits = {
  /** From the first byte of a request, or from the opening of the connection, to the end of the headers. */
  headersTimeoutMs: 10_000,
  /** From the same moment to the end of the body. A body that was refused is read for this long too. */
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 5_000,
  /**
   * A connection on which nothing moves while a request is in flight is closed. This is longer than `requestTimeoutMs`
   * and two checks, so that a client that falls silent in its body is answered 408.
   */
  stallTimeoutMs: 45_000,
  /** How long a client may take to read a whole response, however steadily it reads. */
  responseTimeoutMs: 30_000,
  /** How long a client may take to read the last response after the server has closed its side. */
  lingerMs: 1_000,
  /** How much of a refused body is read and dropped before the connection is closed: 16 MiB. */
  maxDrainedBytes: 16_777_216,
  /** Further connections of the same client address are closed at once. 0 means no limit. */
  maxConnectionsPerAddress: 1_000,
  /** From this number of outstanding requests on, each further request is the last one of its connection. */
  maxOutstandingRequests: 2_000,
};

export type ServerLimits = Readonly<typeof defaultLimits>;

export interface HttpServerDeps {
  readonly app: Express;
  readonly onRefused: (error: Error) => void;
  readonly limits?: Partial<ServerLimits>;
}

export interface HttpServer {
  readonly server: Server;
  readonly connections: Connections;
}

/**
 * Creates a server whose app answers each request once. For input that it cannot parse, Node has no request object. So this
 * creates one and destroys it with the `Problem`, which `request.errored` then holds. The socket stays open for the response.
 */
export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const limits = { ...defaultLimits, ...deps.limits };
  const messages = createMessageClasses(deps.app);

  const server = createServer({
    ...messages,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // Longer than the usual 60 s of a load balancer, so that the balancer closes first.
    keepAliveTimeout: 75_000,
    maxHeaderSize: 16 * 1024,
    insecureHTTPParser: false,
    // Node would answer a missing Host by itself, with a bare 400. See validateRequestMessage.
    requireHostHeader: false,
  });
  server.timeout = limits.stallTimeoutMs;
  // 0 = no limit on the number. With a number, Node silently drops later fields, even Authorization. maxHeaderSize still
  // limits the size.
  server.maxHeadersCount = 0;
  // By default Node closes its sending side when a client closes its own after a request (RFC 9112 section 9.6), and the client
  // may get no response.
  Object.assign(server, { httpAllowHalfOpen: true });

  const connections = trackConnections(server, limits, deps.onRefused);
  server.on("request", (request, response) => {
    const connection = connections.get(request.socket);
    if (connection !== undefined) {
      connections.accept(connection, response);
      const { "content-length": length, "transfer-encoding": coding } = request.headers;
      if (length !== undefined || coding !== undefined) drainUnreadBody(connection, response, limits);
    }
    request.url = originForm(request.url ?? "");
    deps.app(request, response);
  });
  // `readBody` sends `100 Continue`. Other values of Expect are ignored (RFC 9110 section 10.1.1).
  const emitRequest = (request: IncomingMessage, response: ServerResponse) => server.emit("request", request, response);
  server.on("checkContinue", emitRequest);
  server.on("checkExpectation", emitRequest);

  function answerLast(connection: Connection, request: IncomingMessage): void {
    const response = new messages.ServerResponse(request);
    respondLast(connection, response);
    emitRequest(request, response);
  }

  // Without a listener, Node closes the connection of a CONNECT. With one, Node does not wait for the earlier responses of the
  // connection; `respondLast` does.
  server.on("connect", (request, socket) => {
    const connection = connections.get(socket);
    if (connection !== undefined) answerLast(connection, request);
  });
  findMalformedRequests(server, connections, (connection, problem) => {
    const request = new messages.IncomingMessage(connection.socket);
    Object.assign(request, {
      // The unknown method of OpenTelemetry's semantic conventions.
      method: "_OTHER",
      // Gives the response CORS headers, so that a script can read the error.
      headers: { origin: "null" },
    });
    request.destroy(problem);
    answerLast(connection, request);
  });
  return { server, connections };
}

/**
 * Returns the classes of the server's requests and responses. Express sets the prototype of each request to `app.request`
 * and of each response to `app.response`, and V8 handles an object slowly after its prototype was changed. The objects of
 * these classes have Express's prototypes from the start.
 */
function createMessageClasses(app: Express) {
  class AppRequest extends IncomingMessage {
    /** If the server calls `request.destroy(problem)`, only the request ends. The socket stays open for the response. */
    override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
      if (error instanceof Problem) callback(this.listenerCount("error") > 0 ? error : null);
      else super._destroy(error, callback);
    }
  }
  class AppResponse extends ServerResponse<AppRequest> {}

  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response);
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}

/**
 * Returns the path and the query of a request target (RFC 9112 section 3.2): `/pets` for `http://host/pets`. It is `/` for a
 * target without a path, such as `http://host` or `host:443` (CONNECT), because Express calls no handler without a path.
 */
function originForm(target: string): string {
  if (target.startsWith("/") || target === "*") return target;
  const path = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? "";
  return path.startsWith("/") ? path : `/${path}`;
}

/** Drops the rest of a body that the app did not read, up to `maxDrainedBytes`, so that the client can read the answer. */
function drainUnreadBody(connection: Connection, response: ServerResponse, limits: ServerLimits): void {
  const request = response.req;
  // Runs before Node's own listener, which would drop the rest of the body without a limit.
  response.prependOnceListener("finish", () => {
    if (request.complete) return;
    let drainedBytes = 0;
    request.on("data", (chunk: Buffer) => {
      drainedBytes += chunk.length;
      if (drainedBytes > limits.maxDrainedBytes) closeGracefully(connection);
    });
    request.resume();
  });
}
