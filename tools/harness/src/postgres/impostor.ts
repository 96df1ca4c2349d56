import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { loopback } from "@petstore/embedded-postgres";

export interface Impostor extends AsyncDisposable {
  readonly port: number;
  /** Everything that its clients have sent, after the encryption was removed. */
  received(): string;
}

// Messages of the PostgreSQL protocol, version 3: a type, the length, the content.
const passwordRequests = {
  cleartext: Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]),
  md5: Buffer.from([0x52, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4]),
};

export interface ImpostorOptions {
  readonly asksFor: "cleartext" | "md5";
  /** PEM. With it, the impostor accepts clients that ask for TLS. */
  readonly certificate?: { readonly cert: string; readonly key: string } | undefined;
}

/** A program on a port where a client expects PostgreSQL. It asks each client for the password. */
export async function openImpostor({ asksFor, certificate }: ImpostorOptions): Promise<Impostor> {
  const sockets: Socket[] = [];
  let received = "";
  const ask = (stream: Duplex, startup: Buffer): void => {
    received += startup.toString("latin1");
    stream.on("data", (data: Buffer) => {
      received += data.toString("latin1");
    });
    stream.write(passwordRequests[asksFor]);
  };
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", (first) => {
      // An SSLRequest has 8 bytes.
      if (certificate === undefined || first.length > 8) return ask(socket, first);
      socket.write("S");
      const secure = new TLSSocket(socket, { isServer: true, ...certificate });
      secure.on("error", () => {});
      secure.once("data", (startup: Buffer) => ask(secure, startup));
    });
  }).listen(0, loopback);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    received: () => received,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
