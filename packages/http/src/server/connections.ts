/** Tracks connections, and lets pipelined requests wait for their turn, at most 64 on each connection. */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { addressBucket } from "./client-identity.js";
import { closeGracefully, closeSlowReaders, dropFurtherRequests } from "./closing.js";
import type { Connection } from "./connection.js";
import type { ServerLimits } from "./limits.js";
import { hasClearFraming } from "./validate-request-message.js";

export interface Connections {
  get(socket: Duplex): Connection | undefined;
  /**
   * Records a request. It is the last one of its connection if the connection now has 64 outstanding requests, if it has two
   * while the process is at its limit, or if the end of the request is unclear.
   *
   * Calls `handle` at once if the connection has no other outstanding request, and otherwise in the turn of the request. A
   * request whose connection closes before its turn is not handled.
   */
  accept(connection: Connection, response: ServerResponse, handle: () => void): void;
  /**
   * Each connection closes after its newest response. If the headers of this response are already sent, they promise
   * keep-alive to the client. The connection then closes after the response to the next request.
   */
  drain(): void;
}

const maxOutstandingPerConnection = 64;
/**
 * The parser emits all requests of a read at once. If they were handled at once too, 1,000 connections with 64 requests each
 * would keep the event loop for seconds. One request takes about 0.1 ms, so other clients wait for about 3 ms.
 */
const maxStartsPerTurn = 32;

/** `onRefused` is called for each connection beyond `maxConnectionsPerAddress`. */
export function trackConnections(server: Server, limits: ServerLimits, onRefused: (error: Error) => void): Connections {
  const connections = new Map<Duplex, Connection>();
  const openByAddress = new Map<string, number>();
  /** Connections with waiting requests. The first one is the next to start a request. */
  const inLine = new Set<Connection>();
  let isTurnScheduled = false;
  let outstandingInProcess = 0;
  let isDraining = false;
  /** The grace period is over. Idle connections are closed at once, and busy ones after their newest response. */
  let isClosing = false;

  server.on("connection", (socket) => {
    const address = addressBucket(socket.remoteAddress);
    const open = (openByAddress.get(address) ?? 0) + 1;
    const max = limits.maxConnectionsPerAddress;
    if (max > 0 && open > max) {
      socket.destroy();
      onRefused(new Error(`more than ${max} connections of ${address}`));
      return;
    }
    openByAddress.set(address, open);
    connections.set(socket, createConnection(socket, limits.lingerMs));
    socket.once("close", () => remove(socket, address));
  });

  function remove(socket: Socket, address: string): void {
    const connection = connections.get(socket);
    const responses = connection?.responses ?? [];
    connections.delete(socket);
    if (connection !== undefined) inLine.delete(connection);
    const open = (openByAddress.get(address) ?? 1) - 1;
    if (open > 0) openByAddress.set(address, open);
    else openByAddress.delete(address);
    // When a socket closes, Node emits 'close' only on the response that is being sent, not on the later responses.
    for (const response of responses) {
      if (response.socket === null && !response.writableFinished) response.emit("close");
    }
  }

  function handleInTurn(connection: Connection, handle: () => void): void {
    connection.waiting.push(handle);
    inLine.add(connection);
    scheduleTurn();
  }

  function scheduleTurn(): void {
    if (isTurnScheduled || inLine.size === 0) return;
    isTurnScheduled = true;
    setImmediate(takeTurns);
  }

  /** Runs once per turn of the event loop while requests wait. A connection starts at most one of them. */
  function takeTurns(): void {
    isTurnScheduled = false;
    for (const connection of [...inLine].slice(0, maxStartsPerTurn)) {
      inLine.delete(connection);
      if (connection.socket.destroyed) continue;
      const handle = connection.waiting.shift();
      if (connection.waiting.length > 0) inLine.add(connection);
      handle?.();
    }
    scheduleTurn();
  }

  function onResponseClosed(connection: Connection, response: ServerResponse): void {
    outstandingInProcess -= 1;
    if (isClosing && connection.responses.at(-1) === response) connection.socket.destroySoon();
    connection.hasResponded = true;
    if (connection.slowRead?.response === response) connection.slowRead = undefined;
    removeClosed(connection);
    // The client has its response and still uploads.
    if (!response.req.complete) response.req.once("end", () => removeClosed(connection));
  }

  const timer = setInterval(() => closeSlowReaders(connections.values(), limits), limits.timeoutCheckMs).unref();
  server.once("close", () => clearInterval(timer));

  // `server.close` calls this. Node's version destroys the connection of a slow client that has not received its response.
  server.closeIdleConnections = () => {
    isClosing = true;
    for (const connection of connections.values()) {
      const newest = connection.responses.at(-1);
      const isIdle =
        newest === undefined ? connection.hasResponded || connection.socket.bytesRead === 0 : newest.closed;
      if (isIdle) connection.socket.destroySoon();
    }
  };
  // Node's version does not know connections without a parser (`stopReading`).
  server.closeAllConnections = () => {
    for (const { socket } of connections.values()) socket.destroy();
  };

  return {
    get: (socket) => connections.get(socket),
    accept(connection, response, handle) {
      const { responses } = connection;
      // While the server drains, only the newest response closes the connection.
      const earlier = responses.at(-1);
      if (isDraining && earlier !== undefined) earlier.shouldKeepAlive = true;
      removeClosed(connection);
      responses.push(response);
      outstandingInProcess += 1;
      response.once("close", () => onResponseClosed(connection, response));
      const isConnectionFull = responses.length >= maxOutstandingPerConnection;
      // A client that does not pipeline has one outstanding request, and keeps its connection.
      const isProcessFull = outstandingInProcess >= limits.maxOutstandingRequests && responses.length > 1;
      if (isConnectionFull || isProcessFull || !hasClearFraming(response.req)) {
        connection.hasLastRequest = true;
        dropFurtherRequests(connection);
      }
      if (isDraining || connection.hasLastRequest) response.shouldKeepAlive = false;
      if (responses.length === 1) handle();
      else handleInTurn(connection, handle);
    },
    drain() {
      isDraining = true;
      for (const connection of connections.values()) {
        const newest = connection.responses.at(-1);
        // Has no effect on headers that are already sent.
        if (newest !== undefined) newest.shouldKeepAlive = false;
      }
    },
  };
}

/** The newest response stays while its client still uploads: then the connection must not be closed at once. */
function removeClosed({ responses }: Connection): void {
  while (responses[0]?.closed && (responses.length > 1 || responses[0].req.complete)) responses.shift();
}

function createConnection(socket: Socket, lingerMs: number): Connection {
  const connection: Connection = {
    socket,
    responses: [],
    waiting: [],
    isParsing: true,
    hasLastRequest: false,
    hasResponded: false,
    slowRead: undefined,
    lingerMs,
  };
  // A reset can come while Node has no error listener on the socket. 'close' follows, so nothing more is needed.
  socket.on("error", () => {});
  // Node calls `destroySoon` after a response with `Connection: close`. If input is unread, the kernel then sends RST, and a
  // client that still uploads loses the response (RFC 9112 section 9.6).
  const closeAtOnce = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const isUploading = connection.responses.at(-1)?.req.complete === false;
    if (!connection.isParsing || connection.hasLastRequest || isUploading) closeGracefully(connection);
    else closeAtOnce();
  };
  return connection;
}
