import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** One client connection, for the moments that node:http leaves to whoever holds the socket. */
export interface Connection {
  readonly socket: Socket;
  /** Responses leave in the order of their requests: when the newest is closed, none is owed. */
  newest: ServerResponse | undefined;
  /** The parser was cut off: nothing that still arrives is a request. */
  readonly isDeaf: boolean;
  /** Resolves when every request handed to the app has its response; never, if the client leaves before that. */
  settled(): Promise<void>;
  /** Whatever still arrives is read and forgotten, so that the client can go on writing until it reads the answer. */
  deafen(): void;
  /** The polite end: sends what is queued, then FIN, and discards input until the client closes too or `lingerMs` pass. */
  hangUp(): void;
}

export function openConnection(socket: Socket, lingerMs: number): Connection {
  let isDeaf = false;
  const connection: Connection = {
    socket,
    newest: undefined,
    get isDeaf() {
      return isDeaf;
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
    if (isDeaf || connection.newest?.req.complete === false) connection.hangUp();
    else closeAtOnce();
  };
  return connection;
}

function discard(): void {}
