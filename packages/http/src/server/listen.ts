import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { constants } from "node:os";

export interface ListenOptions {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /** The variables that name them, for messages. By default HOST and PORT. */
  readonly variables?: { readonly host: string; readonly port: string };
  /** The time for requests in flight, after the grace. By default 2.5 s, because `npm start` ends within 5 s of Ctrl-C. */
  readonly drainTimeoutMs?: number;
  /** How long a stopping service accepts requests. A load balancer sends them until it sees that `/readyz` is 503. */
  readonly graceMs?: number;
  readonly onDrain?: () => void;
  /** Receives the errors of the running server, such as a connection that it could not accept. */
  readonly onError: (error: unknown) => void;
}

/** Disposing waits for `graceMs`, then for requests in flight, and then closes all connections. */
export interface Listener extends AsyncDisposable {
  /** The address for a client on this machine. */
  readonly url: string;
  readonly port: number;
}

/**
 * Connections that the kernel accepts before the service does. With Node's 511, one client that opens 1,000 at one moment
 * delays the connections of others by a second or more, until they try again. Linux allows 4,096 by default.
 */
const backlog = 4_096;

/** Rejects with a message that names the address, the variable and the remedy. */
export async function listen(server: Server, options: ListenOptions): Promise<Listener> {
  const { host, port, drainTimeoutMs = 2_500, graceMs = 0, onDrain, onError } = options;
  try {
    server.listen({ host, port, backlog });
    await once(server, "listening");
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new Error(`Cannot listen on ${host} port ${port}: ${adviceFor(code, options) ?? message}`, { cause: error });
  }
  server.on("error", onError);

  async function close(): Promise<void> {
    onDrain?.();
    if (graceMs > 0) await new Promise((resolve) => setTimeout(resolve, graceMs));
    const timer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
    await new Promise((resolve) => server.close(resolve));
    clearTimeout(timer);
  }

  const address = server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    url: `http://${hostInUrl(host)}:${address.port}`,
    port: address.port,
    [Symbol.asyncDispose]() {
      closed ??= close();
      return closed;
    },
  };
}

function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** The user may never have set the variable: some shells and package managers set HOST. */
function adviceFor(code: string, { port, variables }: ListenOptions): string | undefined {
  const names = variables ?? { host: "HOST", port: "PORT" };
  const otherPort = port > 1_023 && port < 65_535 ? port + 1 : 3_001;
  switch (code) {
    case "EADDRINUSE":
      return `another program listens there. Stop it, or set ${names.port} to another port, such as ${otherPort}.`;
    case "EACCES":
      return `this user may not use that port. Set ${names.port} to one above 1023, such as ${otherPort}.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${names.host} is not an address of this machine. Use ${names.host}=127.0.0.1, or 0.0.0.0 for all its addresses.`;
    default:
      return undefined;
  }
}

/** The terminal and npm both send SIGINT, so a second signal within 500 ms is ignored. */
const repeatMs = 500;

/** Resolves at the first signal that asks the process to stop. A later one ends the process at once, with status 128 + n. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const nowMs = performance.now();
      if (firstAtMs === undefined) {
        firstAtMs = nowMs;
        resolve(signal);
      } else if (nowMs - firstAtMs > repeatMs) {
        process.exit(128 + constants.signals[signal]);
      }
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  });
}
