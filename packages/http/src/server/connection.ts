import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** One client connection, for the moments that node:http leaves to whoever holds the socket. */
export interface Connection {
  readonly socket: Socket;
  /** Responses leave in the order of their requests: when the newest is closed, none is owed. */
  readonly newest: ServerResponse | undefined;
  /** The one whose bytes the client reads now, or that the app still works on. */
  readonly oldest: ServerResponse | undefined;
  /** The parser was cut off: nothing that still arrives is a request. */
  readonly isDeaf: boolean;
  /** The connection has had its last request: nothing behind it is answered. */
  readonly isFull: boolean;
  /**
   * Records a request. At 64 outstanding requests of the connection, or at the limit of the process, it is the
   * connection's last one, answered with `Connection: close`.
   */
  accept(response: ServerResponse): void;
  /** Resolves when every request handed to the app has its response; never, if the client leaves before that. */
  settled(): Promise<void>;
  /** Whatever still arrives is read and forgotten, so that the client can go on writing until it reads the answer. */
  deafen(): void;
  /** The polite end: sends what is queued, then FIN, and discards input until the client closes too or `lingerMs` pass. */
  hangUp(): void;
}

/** Requests of one connection that may wait for the end of their response. */
const maxOutstanding = 64;

/** The requests of all connections that wait for the end of their response. */
interface OutstandingRequests {
  count: number;
  readonly max: number;
}

interface ConnectionOptions {
  readonly lingerMs: number;
  readonly ofProcess: OutstandingRequests;
}

export function openConnection(socket: Socket, { lingerMs, ofProcess }: ConnectionOptions): Connection {
  /** In the order of the requests, and at least the newest. */
  const outstanding: ServerResponse[] = [];
  const counted = new Set<ServerResponse>();
  let isDeaf = false;
  let isFull = false;

  function uncount(response: ServerResponse): void {
    if (counted.delete(response)) ofProcess.count -= 1;
  }

  // A response that still waits for its turn on the socket has no 'close' event then.
  socket.once("close", () => counted.forEach(uncount));
  const connection: Connection = {
    socket,
    get newest() {
      return outstanding.at(-1);
    },
    get oldest() {
      return outstanding.find(({ closed }) => !closed);
    },
    get isDeaf() {
      return isDeaf;
    },
    get isFull() {
      return isFull;
    },
    accept(response) {
      while (outstanding[0]?.closed === true) outstanding.shift();
      outstanding.push(response);
      counted.add(response);
      ofProcess.count += 1;
      response.once("close", () => uncount(response));
      if (outstanding.length < maxOutstanding && ofProcess.count < ofProcess.max) return;
      isFull = true;
      response.shouldKeepAlive = false;
      dropFurtherRequests(connection);
    },
    settled() {
      const { newest } = connection;
      // Not `events.once`, which rejects on 'error'.
      return newest === undefined || newest.closed
        ? Promise.resolve()
        : new Promise((resolve) => newest.once("close", resolve));
    },
    deafen() {
      if (isDeaf) return;
      isDeaf = true;
      socket.removeAllListeners("data");
      // Node's own 'end' listener would close the writing side before the answer is on it.
      socket.removeAllListeners("end");
      // A 'data' listener makes node:http take the socket back from its native parser.
      socket.on("data", discard);
      socket.resume();
    },
    hangUp() {
      connection.deafen();
      socket.end();
      const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
      socket.once("close", () => clearTimeout(timer));
    },
  };

  // A reset can come at any time, also while node:http has no listener of its own on the socket; 'close' follows it.
  socket.on("error", discard);
  // node:http closes through destroySoon after a response with `Connection: close`. With input unread the kernel then
  // sends RST, and a client that is still uploading loses the very answer that refuses its upload (RFC 9112 section 9.6).
  const closeAtOnce = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (isDeaf || isFull || connection.newest?.req.complete === false) connection.hangUp();
    else closeAtOnce();
  };
  return connection;
}

/** node:http keeps the parser on the socket. Not documented, and the same in Node.js 20 to 26. */
interface Parsed {
  readonly parser?: {
    onIncoming(request: IncomingMessage & { upgrade: boolean }, shouldKeepAlive: boolean): number;
  } | null;
}

/**
 * The parser handles a whole read of 64 KiB at once. That can be 2,500 requests, each with a request and a response object,
 * and no public method stops it. We replace its callback: returning 2 says that another protocol follows, so the parser
 * ignores the rest of the read. The body of the last request is still parsed.
 */
function dropFurtherRequests(connection: Connection): void {
  const { parser } = connection.socket as Socket & Parsed;
  if (!parser) return;
  parser.onIncoming = (request) => {
    // Otherwise node:http would end the connection of a request for an upgrade, before the answers are on it.
    request.upgrade = false;
    // Not while the parser runs.
    setImmediate(connection.deafen);
    return 2;
  };
}

function discard(): void {}
