import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A receiver of traces by OTLP over HTTP. */
export interface TraceReceiver extends AsyncDisposable {
  readonly url: string;
  /** The received requests, in order. `target` is the method and the path. */
  readonly requests: readonly {
    readonly target: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: string;
  }[];
}

/** With a status of 0 the receiver does not answer. */
export async function openTraceReceiver(status = 200): Promise<TraceReceiver> {
  const requests: TraceReceiver["requests"][number][] = [];
  const server = createServer(async (req, res) => {
    requests.push({ target: `${req.method} ${req.url}`, headers: req.headers, body: await text(req) });
    if (status > 0) res.writeHead(status, { "Content-Type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
