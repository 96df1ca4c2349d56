import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Problem } from "@petstore/core";
import type { Express } from "express";
import { addressBucket } from "../pipeline/client-address.js";
import { type Connection, openConnection } from "./connection.js";
import { type AnswerMalformedRequest, answerMalformedRequests, respondLast } from "./malformed-request.js";

export interface ServerLimits {
  /** From the first byte of a request, or from the connection's opening, to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From the same moment to the end of its body; also what bounds the reading of a body that was refused. */
  readonly requestTimeoutMs: number;
  /** How often the limits are looked at. */
  readonly timeoutCheckMs: number;
  /** Longer than the usual 60 s of a load balancer, so that the balancer closes first and never meets a closed one. */
  readonly keepAliveTimeoutMs: number;
  /**
   * A connection on which nothing moves while a request is under way is cut off. Longer than the longest wait for a
   * request and its next check, so that a client that falls silent in its body is answered 408.
   */
  readonly stallTimeoutMs: number;
  /** A client that takes its response in drops, and so is never idle, has so long for all of it. */
  readonly responseTimeoutMs: number;
  /** How long a client may take to read the last answer after the server has closed its side. */
  readonly lingerMs: number;
  /** How much of a refused body is read and dropped before the connection is closed. */
  readonly maxDrainedBytes: number;
  /** How many connections one client address may hold; further ones are closed at once. 0 is no limit. */
  readonly maxConnectionsPerAddress: number;
  /**
   * Requests of all connections that may wait for the end of their response. From there on, each further request is the
   * last one of its connection, so a process holds at most this many and one for each connection.
   */
  readonly maxOutstandingRequests: number;
}

const defaultLimits: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  timeoutCheckMs: 5_000,
  keepAliveTimeoutMs: 75_000,
  stallTimeoutMs: 45_000,
  responseTimeoutMs: 30_000,
  lingerMs: 1_000,
  maxDrainedBytes: 16 * 1024 * 1024,
  maxConnectionsPerAddress: 1_000,
  maxOutstandingRequests: 2_000,
};

export interface HttpServerDeps {
  readonly app: Express;
  readonly answerMalformedRequest: AnswerMalformedRequest;
  /** Receives faults that belong to no request: a refused connection, an `answerMalformedRequest` that rejects. */
  readonly onFault: (error: unknown) => void;
  readonly limits?: Partial<ServerLimits>;
}

/** A server on which every request that can still be answered is answered once, by `app` or by `answerMalformedRequest`. */
export function createHttpServer(deps: HttpServerDeps): Server {
  const limits = { ...defaultLimits, ...deps.limits };
  const connections = new Map<Duplex, Connection>();
  const ofProcess = { count: 0, max: limits.maxOutstandingRequests };
  const messages = adoptPrototypes(deps.app);

  const server = createServer(
    {
      ...messages,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: limits.timeoutCheckMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      maxHeaderSize: 16 * 1024,
      noDelay: true,
      insecureHTTPParser: false,
      // Node would answer a missing Host by itself, with a bare 400; wireProblem has the rule.
      requireHostHeader: false,
    },
    (request, response) => {
      const connection = connections.get(request.socket);
      if (connection !== undefined) {
        connection.accept(response);
        if (hasBody(request)) boundRefusedBody(connection, request, response, limits.maxDrainedBytes);
      }
      request.url = originForm(request.url ?? "");
      deps.app(request, response);
    },
  );
  server.timeout = limits.stallTimeoutMs;
  // Not unlimited, since maxHeaderSize holds: but Node drops the fields beyond a count silently, Authorization included.
  server.maxHeadersCount = 0;
  // A client may close its sending side after its request (RFC 9112 section 9.6); Node would close the other in return.
  Object.assign(server, { httpAllowHalfOpen: true });

  server.on("connection", (socket) => {
    connections.set(socket, openConnection(socket, { lingerMs: limits.lingerMs, ofProcess }));
    socket.once("close", () => connections.delete(socket));
  });
  closeSurplusConnections(server, limits.maxConnectionsPerAddress, deps.onFault);
  endSlowReaders(server, connections, limits);
  server.once("listening", () => server.on("error", deps.onFault));
  answerMalformedRequests(server, {
    connectionOf: (socket) => connections.get(socket),
    answerMalformedRequest: deps.answerMalformedRequest,
    onFault: deps.onFault,
  });

  // An expectation is the app's to meet, and one it does not know may be ignored (RFC 9110 section 10.1.1).
  const emitRequest = (request: IncomingMessage, response: ServerResponse) => server.emit("request", request, response);
  server.on("checkContinue", emitRequest);
  server.on("checkExpectation", emitRequest);
  // Without a listener Node drops the connection of a CONNECT; with one it hands over the socket, out of its queue.
  server.on("connect", (request, socket) => {
    const connection = connections.get(socket);
    void connection?.settled().then(() => {
      if (!socket.writable) return;
      const response = new messages.ServerResponse(request);
      respondLast(connection, response);
      emitRequest(request, response);
    });
  });
  return server;
}

/** One client address cannot take all the sockets and memory of the process. IPv6 addresses count by their /64. */
function closeSurplusConnections(server: Server, limit: number, onFault: HttpServerDeps["onFault"]): void {
  if (limit === 0) return;
  const openByAddress = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = addressBucket(socket.remoteAddress);
    const open = openByAddress.get(address) ?? 0;
    if (open >= limit) {
      socket.destroy();
      onFault(new Error(`a client address has more than ${limit} connections`));
      return;
    }
    openByAddress.set(address, open + 1);
    socket.once("close", () => {
      const left = (openByAddress.get(address) ?? 1) - 1;
      if (left > 0) openByAddress.set(address, left);
      else openByAddress.delete(address);
    });
  });
}

/** node:http bounds how long a request may take to arrive, not how long its response may take to leave. */
function endSlowReaders(
  server: Server,
  connections: ReadonlyMap<Duplex, Connection>,
  { responseTimeoutMs, timeoutCheckMs }: ServerLimits,
): void {
  const unread = new WeakMap<ServerResponse, number>();
  const timer = setInterval(() => {
    for (const { socket, oldest } of connections.values()) {
      if (!oldest?.writableEnded) continue;
      const waitedMs = unread.get(oldest) ?? 0;
      if (waitedMs >= responseTimeoutMs) socket.destroy();
      else unread.set(oldest, waitedMs + timeoutCheckMs);
    }
  }, timeoutCheckMs).unref();
  server.once("close", () => clearInterval(timer));
}

/**
 * Express sets the prototype of every request and response to `app.request` and `app.response`, and an object whose
 * prototype was changed is slow for the rest of its life. Here they are born with those prototypes.
 */
function adoptPrototypes(app: Express) {
  class AppRequest extends IncomingMessage {
    /** A body that cannot arrive ends the request, not the connection: the app's answer still has to go out on it. */
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
 * Express takes a target in which it finds no path past every handler of the app. So CONNECT, whose target is an
 * authority, asks for the root, and an absolute target (RFC 9112 section 3.2.2) for its path.
 */
function originForm(target: string): string {
  if (target.startsWith("/") || target === "*") return target;
  const path = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*(.*)$/i.exec(target)?.[1] ?? "";
  return path.startsWith("/") ? path : `/${path}`;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

/** Reads on after an answer that did not wait for the body, so that the client gets to read it, but not for ever. */
function boundRefusedBody(
  connection: Connection,
  request: IncomingMessage,
  response: ServerResponse,
  maxDrainedBytes: number,
): void {
  // Before Node's own listener, which would drop the body uncounted.
  response.prependOnceListener("finish", () => {
    if (request.complete) return;
    let drainedBytes = 0;
    request.on("data", (chunk: Buffer) => {
      drainedBytes += chunk.length;
      if (drainedBytes > maxDrainedBytes) connection.hangUp();
    });
    request.resume();
  });
}
