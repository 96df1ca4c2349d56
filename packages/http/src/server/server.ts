import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import type { Express } from "express";
import { closeGracefully, respondLast } from "./closing.js";
import { type Connection, type Connections, trackConnections } from "./connections.js";
import { findMalformedRequests } from "./malformed-request.js";
import { defaultLimits, type ServerLimits } from "./server-limits.js";

export interface HttpServerDeps {
  readonly app: Express;
  /** Receives the reason why a connection is refused. */
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
    noDelay: true,
    insecureHTTPParser: false,
    // Node would answer a missing Host by itself, with a bare 400. See validateRequestMessage.
    requireHostHeader: false,
  });
  server.timeout = limits.stallTimeoutMs;
  // 0 = no limit on the number. With a number, Node silently drops later fields, even Authorization. maxHeaderSize still
  // limits the size.
  server.maxHeadersCount = 0;
  // A client may close its sending side after its request (RFC 9112 section 9.6). By default Node then closes the sending
  // side of the server too, and the client may get no response.
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

  // Without a listener, Node closes the connection of a CONNECT. With a listener, Node gives us the socket and does not wait
  // for the earlier responses of the connection; `respondLast` does.
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
