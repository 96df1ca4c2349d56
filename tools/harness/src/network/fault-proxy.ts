// A TCP proxy between a client and its server with the faults of a network. It does not depend on the protocol.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
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

/** A connection of a client and its connection to the server. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  hasDropped: boolean;
}

/** For the server of this URL, which names its port. */
export async function openFaultProxy(server: { readonly url: string }): Promise<FaultProxy> {
  const url = new URL(server.url);
  const options = { allowHalfOpen: true, noDelay: true };
  const target = { host: url.hostname, port: Number(url.port), ...options };
  const port = await choosePort(undefined);
  url.host = `${loopback}:${port}`;
  const links = new Set<Link>();
  let fault: "none" | "black hole" | "drop replies" | "refuse" = "none";

  const listener = createServer(options, (client) => {
    const link: Link = { client, server: connect(target), hasDropped: false };
    const { server } = link;
    links.add(link);
    client.on("close", () => links.delete(link));

    const pass = (deliver: () => void): void => {
      if (fault === "black hole") link.hasDropped = true;
      else deliver();
    };
    const answer = (deliver: () => void): void => {
      if (fault === "drop replies") {
        client.resetAndDestroy();
        // A reset here could overtake requests that the server has not read yet.
        server.end();
      } else pass(deliver);
    };
    client.on("data", (chunk) => pass(() => server.write(chunk)));
    client.on("end", () => pass(() => server.end()));
    client.on("error", () => reset(link));
    server.on("data", (chunk) => answer(() => client.write(chunk)));
    server.on("end", () => answer(() => client.end()));
    server.on("error", () => answer(() => reset(link)));
  });

  async function listen(): Promise<void> {
    listener.listen({ host: loopback, port });
    await once(listener, "listening");
  }

  async function become(next: typeof fault): Promise<void> {
    fault = next;
    for (const link of links) if (next === "refuse" || (next !== "black hole" && link.hasDropped)) reset(link);
    if (next === "refuse") await new Promise((resolve) => listener.close(resolve));
    else if (!listener.listening) await listen();
  }

  await listen();
  return {
    url: url.href,
    blackHole: () => become("black hole"),
    dropReplies: () => become("drop replies"),
    refuse: () => become("refuse"),
    restore: () => become("none"),
    [Symbol.asyncDispose]: () => become("refuse"),
  };
}

function reset({ client, server }: Link): void {
  client.resetAndDestroy();
  server.destroy();
}
