import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { type HttpServer, openHttpServer } from "./http-server.js";

/** A receiver of traces by OTLP over HTTP. */
export interface TraceReceiver extends HttpServer {
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
  const server = await openHttpServer(async (req, res) => {
    requests.push({ target: `${req.method} ${req.url}`, headers: req.headers, body: await text(req) });
    if (status > 0) res.writeHead(status, { "Content-Type": "application/json" }).end("{}");
  });
  return { ...server, requests };
}
