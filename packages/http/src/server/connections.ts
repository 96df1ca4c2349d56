import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { addressBucket } from "../pipeline/client-identity.js";
import { hasClearFraming } from "../pipeline/validate-request-message.js";
import { closeGracefully, closeSlowReaders, dropFurtherRequests } from "./closing.js";
import type { ServerLimits } from "./server.js";

export interface Connection {
  readonly socket: Socket;
  /**
   * In the order of their requests. They close in this order: once the newest is closed, none is outstanding. Closed ones are
   * removed when the next request arrives.
   */
  readonly responses: ServerResponse[];
  /** False once the parser is cut off: bytes that still arrive are dropped. */
  isParsing: boolean;
  /** True once the connection has had its last request: later requests are dropped. */
  hasLastRequest: boolean;
  /** At the last check for slow readers. */
  slowRead: { readonly response: ServerResponse; readonly forMs: number } | undefined;
  readonly lingerMs: number;
}

export interface Connections {
  get(socket: Duplex): Connection | undefined;
  /**
   * Records a request. The request is the last one of its connection in three cases: the connection now has 64 outstanding
   * requests, the process is at its limit, or the end of the request is not clear.
   */
  accept(connection: Connection, response: ServerResponse): void;
  /**
   * From now on a connection closes after its newest response. If the headers of that response were sent before, it closes
   * after the following response.
   */
  drain(): void;
}

const maxOutstandingPerConnection = 64;

/** `onRefused` is told about a connection beyond `maxConnectionsPerAddress`. */
export function trackConnections(server: Server, limits: ServerLimits, onRefused: (error: Error) => void): Connections {
  const connections = new Map<Duplex, Connection>();
  const openByAddress = new Map<string, number>();
  let outstandingInProcess = 0;
  let isDraining = false;
  /** Set by `server.close`, after the grace period: each connection is closed after its newest response. */
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
    const responses = connections.get(socket)?.responses ?? [];
    connections.delete(socket);
    const open = (openByAddress.get(address) ?? 1) - 1;
    if (open > 0) openByAddress.set(address, open);
    else openByAddress.delete(address);
    // When a socket closes, node:http emits 'close' only on the response that is being sent, not on those behind it.
    for (const response of responses) {
      if (response.socket === null && !response.writableFinished) response.emit("close");
    }
  }

  function onResponseClosed(connection: Connection, response: ServerResponse): void {
    outstandingInProcess -= 1;
    if (isClosing && connection.responses.at(-1) === response) connection.socket.destroySoon();
  }

  const timer = setInterval(() => closeSlowReaders(connections.values(), limits), limits.timeoutCheckMs).unref();
  server.once("close", () => clearInterval(timer));

  // `server.close` calls this. The original of Node treats an ended response as sent, and cuts it for a slow client.
  server.closeIdleConnections = () => {
    isClosing = true;
    for (const connection of connections.values()) {
      const newest = connection.responses.at(-1);
      const isIdle = newest === undefined ? connection.socket.bytesRead === 0 : newest.closed;
      if (isIdle) connection.socket.destroySoon();
    }
  };
  // Node's version does not know the connections whose parser was cut off.
  server.closeAllConnections = () => {
    for (const { socket } of connections.values()) socket.destroy();
  };

  return {
    get: (socket) => connections.get(socket),
    accept(connection, response) {
      const { responses } = connection;
      // While the server drains, only the newest response closes the connection. So the earlier one keeps it open.
      const earlier = responses.at(-1);
      if (isDraining && earlier !== undefined) earlier.shouldKeepAlive = true;
      while (responses[0]?.closed) responses.shift();
      responses.push(response);
      outstandingInProcess += 1;
      response.once("close", () => onResponseClosed(connection, response));
      const isConnectionFull = responses.length >= maxOutstandingPerConnection;
      const isProcessFull = outstandingInProcess >= limits.maxOutstandingRequests;
      if (isConnectionFull || isProcessFull || !hasClearFraming(response.req)) {
        connection.hasLastRequest = true;
        dropFurtherRequests(connection);
      }
      if (isDraining || connection.hasLastRequest) response.shouldKeepAlive = false;
    },
    drain() {
      isDraining = true;
      for (const connection of connections.values()) {
        const newest = connection.responses.at(-1);
        // Without effect if its headers were sent before: they say keep-alive, and the client may be sending its next request.
        if (newest !== undefined) newest.shouldKeepAlive = false;
      }
    },
  };
}

function createConnection(socket: Socket, lingerMs: number): Connection {
  const state = { isParsing: true, hasLastRequest: false, slowRead: undefined };
  const connection: Connection = { socket, responses: [], lingerMs, ...state };
  // A reset can come at any time, also while node:http has no listener of its own on the socket. 'close' follows it.
  socket.on("error", () => {});
  // node:http closes through destroySoon after a response with `Connection: close`. With input unread the kernel then
  // sends RST, and a client that is still uploading loses the very answer that refuses its upload (RFC 9112 section 9.6).
  const closeAtOnce = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    const isUploading = connection.responses.at(-1)?.req.complete === false;
    if (!connection.isParsing || connection.hasLastRequest || isUploading) closeGracefully(connection);
    else closeAtOnce();
  };
  return connection;
}
