// A TCP proxy between a client and its server with the faults of a network. It does not depend on the protocol.
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { choosePort, loopback } from "@petstore/embedded-postgres";

/**
 * Forwards everything at first. A fault replaces the previous fault, applies to open and new connections, and is active
 * when its promise resolves. While the server is down, the proxy accepts new connections and resets them.
 */
export interface FaultProxy extends AsyncDisposable {
  /** The URL of the server through the proxy. */
  readonly url: string;
  /** Accepts connections and drops the bytes of both sides. */
  blackHole(): Promise<void>;
  /** The server executes requests. The first byte of an answer resets the connection of the client. */
  dropReplies(): Promise<void>;
  /** Resets connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Forwards everything again. Connections with dropped bytes are reset, because their answers no longer match. */
  restore(): Promise<void>;
}

type Fault = "none" | "black hole" | "drop replies" | "refuse";

/** For the server of this URL, which names its port. */
export async function openFaultProxy(server: { readonly url: string }): Promise<FaultProxy> {
  const target = new URL(server.url);
  const url = new URL(server.url);
  const port = await choosePort(undefined);
  url.host = `${loopback}:${port}`;
  const links = new Set<Link>();
  let fault: Fault = "none";
  let listener: Server | undefined;
  let disposed = false;

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
    if (next !== "black hole") for (const link of links) if (link.hasDropped()) link.reset();
    fault = next;
    if (next === "refuse") {
      for (const link of links) link.reset();
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
    blackHole: () => become("black hole"),
    dropReplies: () => become("drop replies"),
    refuse: () => become("refuse"),
    restore: () => become("none"),
    async [Symbol.asyncDispose]() {
      if (disposed) return;
      const closed = become("refuse");
      disposed = true;
      await closed;
    },
  };
}

/** A connection of a client and its connection to the server. */
interface Link {
  reset(): void;
  hasDropped(): boolean;
}

function linkOf(client: Socket, server: Socket, fault: () => Fault): Link {
  let dropped = false;
  const reset = (): void => {
    client.resetAndDestroy();
    server.destroy();
  };
  const request = (deliver: () => void): void => {
    if (fault() === "black hole") dropped = true;
    else deliver();
  };
  const answer = (deliver: () => void): void => {
    const current = fault();
    if (current === "black hole") dropped = true;
    else if (current === "drop replies") {
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
  return { reset, hasDropped: () => dropped };
}
