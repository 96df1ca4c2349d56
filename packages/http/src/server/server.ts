/**
 * Guards the app: limits time, size and number of what clients send, and passes only messages with a clear end to it.
 */
import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { Problem } from "@petstore/core";
import type { Express } from "express";
import { trustProxies } from "./client-identity.js";
import { respondLast } from "./closing.js";
import type { Connection } from "./connection.js";
import { type Connections, trackConnections } from "./connections.js";
import { defaultLimits, type ServerLimits } from "./limits.js";
import { findMalformedRequests } from "./malformed-request.js";
import { drainUnreadBody, refuseTinyChunks } from "./request-body.js";

export interface GuardedServer extends Pick<Connections, "drain"> {
  readonly server: Server;
}

/**
 * Of this folder, the app needs only `readMessageHead`.
 *
 * The app responds to all requests, including malformed ones. Node creates no request object for input that it cannot parse. So
 * this function creates one, and calls `request.destroy(problem)`. `readMessageHead` finds the problem in `request.errored`.
 */
export function createHttpServer(
  app: Express,
  onRefused: (error: Error) => void,
  changedLimits: Partial<ServerLimits>,
  trustedProxies: readonly string[] = [],
): GuardedServer {
  const limits = { ...defaultLimits, ...changedLimits };
  trustProxies(app, trustedProxies);
  const messages = createMessageClasses(app);

  const server = createServer({
    ...messages,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: limits.timeoutCheckMs,
    // Longer than the usual 60 s of a load balancer, so that the balancer closes first.
    keepAliveTimeout: 75_000,
    maxHeaderSize: 16 * 1024,
    insecureHTTPParser: false,
    // `validateRequestMessage` checks the Host. Node's own response, 400, has no body.
    requireHostHeader: false,
  });
  server.timeout = limits.stallTimeoutMs;
  // 0 means no limit. With a limit, Node silently drops later fields, even Authorization. `maxHeaderSize` limits their size.
  server.maxHeadersCount = 0;
  // A client may close its sending side after a request (RFC 9112 section 9.6). By default Node then closes its own side
  // too, and the client may get no response.
  Object.assign(server, { httpAllowHalfOpen: true });

  const connections = trackConnections(server, limits, onRefused);
  server.on("request", (request, response) => {
    const connection = connections.get(request.socket);
    // The connection is closed already.
    if (connection === undefined) return;
    const { "content-length": length, "transfer-encoding": coding } = request.headers;
    if (length !== undefined || coding !== undefined) drainUnreadBody(connection, response, limits);
    if (coding !== undefined) refuseTinyChunks(connection, response);
    request.url = originForm(request.url ?? "");
    connections.accept(connection, response, () => app(request, response));
  });
  // `readBody` sends `100 Continue`. Other values of Expect may be ignored (RFC 9110 section 10.1.1).
  const emitRequest = (request: IncomingMessage, response: ServerResponse) => server.emit("request", request, response);
  server.on("checkContinue", emitRequest);
  server.on("checkExpectation", emitRequest);

  function answerLast(connection: Connection, request: IncomingMessage): void {
    const response = new messages.ServerResponse(request);
    respondLast(connection, response);
    emitRequest(request, response);
  }

  // Without a listener, Node closes the connection of a CONNECT. With one, Node does not wait for earlier responses, but
  // `respondLast` does.
  server.on("connect", (request, socket) => {
    const connection = connections.get(socket);
    if (connection !== undefined) answerLast(connection, request);
  });
  findMalformedRequests(server, connections, (connection, problem) => {
    const request = new messages.IncomingMessage(connection.socket);
    Object.assign(request, {
      // OpenTelemetry's name for an unknown method.
      method: "_OTHER",
      // Gives the response CORS headers, so that a script can read the error.
      headers: { origin: "null" },
    });
    request.destroy(problem);
    answerLast(connection, request);
  });
  return { server, drain: connections.drain };
}

/**
 * Express sets the prototypes of each request and response to `app.request` and `app.response`. V8 is slow with an object
 * whose prototype has changed. Objects of these classes have Express's prototypes from the start.
 */
function createMessageClasses(app: Express) {
  class AppRequest extends IncomingMessage {
    /**
     * `request.destroy(problem)` ends only the request. The socket stays open for the response. Without a listener, an `error`
     * event would end the process.
     */
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
 * The path and the query of a request target (RFC 9112 section 3.2): `/pets` for `http://host/pets`. A target without a
 * path, such as `http://host` or `host:443` (CONNECT), gets the path `/`, because Express calls no handler without a path.
 */
function originForm(target: string): string {
  if (target.startsWith("/") || target === "*") return target;
  const path = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? "";
  return path.startsWith("/") ? path : `/${path}`;
}
