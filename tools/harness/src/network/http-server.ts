import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** A server on a free port. Disposing ends its open connections too. */
export interface HttpServer extends AsyncDisposable {
  readonly url: string;
}

export async function openHttpServer(listener: RequestListener): Promise<HttpServer> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
