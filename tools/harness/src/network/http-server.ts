import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A server on a free port. Disposing ends its open connections too. */
interface HttpServer extends AsyncDisposable {
  readonly url: string;
}

/** A receiver of traces by OTLP over HTTP. */
interface TraceReceiver extends HttpServer {
  /** The received requests, in order. `target` is the method and the path. */
  readonly requests: readonly {
    readonly target: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }[];
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

/** With a status of 0 the receiver does not answer. */
export async function openTraceReceiver(status = 200): Promise<TraceReceiver> {
  const requests: TraceReceiver["requests"][number][] = [];
  const server = await openHttpServer(async (req, res) => {
    requests.push({ target: `${req.method} ${req.url}`, headers: req.headers, body: await text(req) });
    if (status > 0) res.writeHead(status, { "Content-Type": "application/json" }).end("{}");
  });
  return { ...server, requests };
}
