import type { Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** How long requests in flight may take at the end. With the database's shutdown after it, 5 s is what Ctrl-C may take. */
  readonly drainTimeoutMs?: number;
  /**
   * For how long, at the end, requests are still taken, each the last one of its connection: a balancer needs a moment to
   * notice, and meanwhile sends them here.
   */
  readonly graceMs?: number;
  /** Called when the end begins. */
  readonly onDrain?: () => void;
}

/**
 * A server that accepts connections. Disposing it drains it: after the grace, requests in flight are answered, everything
 * else is closed.
 */
export interface Listener extends AsyncDisposable {
  /** As a client on this machine reaches it. */
  readonly url: string;
  readonly port: number;
}

/** Rejects with one line that names the address and the way out when it cannot be listened on. */
export async function listen(server: Server, options: ListenOptions): Promise<Listener> {
  const { host, port, drainTimeoutMs = 2_500, graceMs = 0, onDrain } = options;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  }).catch((error: unknown) => {
    throw new Error(`Cannot listen on ${host} port ${port}: ${adviceFor(error)}`, { cause: error });
  });

  const drain = drainOf(server, drainTimeoutMs);

  async function end(): Promise<void> {
    onDrain?.();
    drain.begin();
    if (graceMs > 0) await sleep(graceMs);
    await drain.end();
  }

  const address = server.address() as AddressInfo;
  let drained: Promise<void> | undefined;
  return {
    url: `http://${hostInUrl(host)}:${address.port}`,
    port: address.port,
    [Symbol.asyncDispose]() {
      drained ??= end();
      return drained;
    },
  };
}

interface Drain {
  /** From now on each connection ends with the request it has, or gets next. */
  begin(): void;
  /** Closes the server and all its connections, within the time limit. */
  end(): Promise<void>;
}

/** Follows the server's connections from now on. */
function drainOf(server: Server, drainTimeoutMs: number): Drain {
  const newestResponse = new Map<Socket, ServerResponse | undefined>();
  let isDraining = false;
  let isEnding = false;

  server.on("connection", (socket) => {
    newestResponse.set(socket, undefined);
    socket.once("close", () => newestResponse.delete(socket));
  });
  server.prependListener("request", ({ socket }, response) => {
    if (isDraining) {
      // Pipelined behind one that was to be the last.
      const earlier = newestResponse.get(socket);
      if (earlier !== undefined) earlier.shouldKeepAlive = true;
      closeAfter(socket, response);
    }
    newestResponse.set(socket, response);
  });

  function closeAfter(socket: Socket, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    // Its headers may have been written with keep-alive already. A client that was told so may be sending its next
    // request, so the connection is not closed under it before the end.
    response.once("close", () => {
      if (isEnding && newestResponse.get(socket) === response) socket.destroySoon();
    });
  }

  // Node's own takes a response for sent once the app has ended it, and cuts one that a slow client is still reading.
  server.closeIdleConnections = () => {
    for (const [socket, response] of newestResponse) {
      const isIdle = response === undefined ? socket.bytesRead === 0 : response.closed;
      if (isIdle) socket.destroySoon();
    }
  };

  return {
    begin() {
      isDraining = true;
      for (const [socket, response] of newestResponse) {
        if (response !== undefined && !response.closed) closeAfter(socket, response);
      }
    },
    async end() {
      isEnding = true;
      const timer = setTimeout(() => {
        for (const socket of newestResponse.keys()) socket.destroy();
      }, drainTimeoutMs);
      await new Promise((resolve) => server.close(resolve));
      clearTimeout(timer);
    },
  };
}

/** A server listens on every address of a machine, a client calls one. */
function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

function adviceFor(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return "another program listens there. Stop it, or choose another port.";
    case "EACCES":
      return "this user may not use that port. Choose one above 1023.";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "that host is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all its addresses.";
    case "ERR_SOCKET_BAD_PORT":
      return "a port is a number from 0 to 65535.";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

/** npm and pnpm pass Ctrl-C on to a child that the terminal has told already: that is not a second one. */
const echoMs = 500;

/** Resolves at the first of the signals; from then on, another one ends the process at once with status 128 + n. */
export function untilSignal(
  signals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"],
): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = performance.now();
      if (firstAtMs === undefined) {
        firstAtMs = nowMs;
        resolve(signal);
      } else if (nowMs - firstAtMs > echoMs) {
        process.exit(128 + constants.signals[signal]);
      }
    };
    for (const signal of signals) process.on(signal, onSignal);
  });
}
