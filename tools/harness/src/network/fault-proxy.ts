// A TCP proxy between a client and its server that can fail as networks do. It knows nothing of the protocol it carries.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { loopback } from "@petstore/embedded-postgres";
import { findFreePort } from "../processes/free-port.js";

export interface FaultProxyOptions {
  /** The server behind it; its port has to be in it. */
  readonly url: string;
}

/**
 * Passes everything on until it is told otherwise. Each fault replaces the one before it, holds for the connections that
 * are open and for those to come, and is in force once its promise resolves. While the server is gone, new connections are
 * accepted and reset.
 */
export interface FaultProxy extends AsyncDisposable {
  /** The server's URL through the proxy. */
  readonly url: string;
  /** Accepts connections and swallows what either side says. */
  blackHole(): Promise<void>;
  /** Requests reach the server that much later, in their order. */
  delay(milliseconds: number): Promise<void>;
  /** Requests are executed; the first byte of an answer resets the client's connection in its place. */
  dropReplies(): Promise<void>;
  /** Resets connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Resets the connections of this moment, whatever the fault. */
  resetAll(): void;
  /** Passes everything on. Connections from which something was swallowed are reset: their answers no longer match. */
  restore(): Promise<void>;
}

type Fault =
  | { readonly kind: "none" }
  | { readonly kind: "black hole" }
  | { readonly kind: "delay"; readonly milliseconds: number }
  | { readonly kind: "drop replies" }
  | { readonly kind: "refuse" };

export async function openFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const target = new URL(options.url);
  const url = new URL(options.url);
  const port = await findFreePort();
  url.host = `${loopback}:${port}`;
  const links = new Set<Link>();
  let fault: Fault = { kind: "none" };
  let listener: Server | undefined;
  let disposed = false;

  const resetAll = (): void => {
    for (const link of links) link.reset();
  };
  const listen = async (): Promise<void> => {
    listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      const server = connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true, noDelay: true });
      const link = linkOf(client, server, () => fault);
      links.add(link);
      for (const socket of [client, server]) {
        socket.once("close", () => {
          if (client.closed && server.closed) links.delete(link);
        });
      }
    });
    listener.listen({ host: loopback, port });
    await once(listener, "listening");
  };
  const become = async (next: Fault): Promise<void> => {
    if (disposed) throw new Error("This proxy is disposed");
    if (next.kind !== "black hole") for (const link of links) if (link.hasSwallowed()) link.reset();
    fault = next;
    if (next.kind === "refuse") {
      resetAll();
      const closing = listener;
      listener = undefined;
      if (closing !== undefined) await new Promise((resolve) => closing.close(resolve));
    } else if (listener === undefined) {
      await listen();
    }
  };

  await listen();
  return {
    url: url.href,
    blackHole: () => become({ kind: "black hole" }),
    delay: (milliseconds) => become({ kind: "delay", milliseconds }),
    dropReplies: () => become({ kind: "drop replies" }),
    refuse: () => become({ kind: "refuse" }),
    resetAll,
    restore: () => become({ kind: "none" }),
    async [Symbol.asyncDispose]() {
      if (disposed) return;
      const closed = become({ kind: "refuse" });
      disposed = true;
      await closed;
    },
  };
}

/** One client's connection and the one that stands for it at the server. */
interface Link {
  reset(): void;
  hasSwallowed(): boolean;
}

function linkOf(client: Socket, server: Socket, fault: () => Fault): Link {
  const gone = new AbortController();
  const requests = delayLine(gone.signal);
  let swallowed = false;
  const reset = (): void => {
    gone.abort();
    client.resetAndDestroy();
    server.destroy();
  };
  const request = (deliver: () => void): void => {
    const current = fault();
    if (current.kind === "black hole") swallowed = true;
    else requests(current.kind === "delay" ? current.milliseconds : 0, deliver);
  };
  const answer = (deliver: () => void): void => {
    const { kind } = fault();
    if (kind === "black hole") swallowed = true;
    else if (kind === "drop replies") {
      client.resetAndDestroy();
      // A reset here could overtake requests that the server has not read yet.
      server.end();
    } else deliver();
  };

  client.on("data", (chunk) => request(() => server.write(chunk)));
  client.on("end", () => request(() => server.end()));
  client.on("error", reset);
  server.on("data", (chunk) => answer(() => client.write(chunk)));
  server.on("end", () => answer(() => client.end()));
  server.on("error", () => answer(reset));
  return { reset, hasSwallowed: () => swallowed };
}

/** Runs actions that much later, and never one before those handed in earlier. */
function delayLine(signal: AbortSignal): (milliseconds: number, action: () => void) => void {
  const waiting: { readonly dueMs: number; readonly action: () => void }[] = [];
  let timer: NodeJS.Timeout | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const run = (): void => {
    timer = undefined;
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      const leftMs = next.dueMs - performance.now();
      if (leftMs > 0) {
        timer = setTimeout(run, leftMs);
        return;
      }
      waiting.shift();
      next.action();
    }
  };
  return (milliseconds, action) => {
    waiting.push({ dueMs: performance.now() + milliseconds, action });
    if (timer === undefined && !signal.aborted) run();
  };
}
