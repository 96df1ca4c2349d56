// A balancer in front of both services that can be set up wrongly, in one way at a time.
import { once } from "node:events";
import { type IncomingHttpHeaders, type IncomingMessage, type RequestListener, request } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import { openHttpServer } from "@petstore/harness/network";

/** A response on its way from a service to the client. */
export interface Relayed {
  status: number;
  readonly headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What is wrong with the balancer. */
export interface Plant {
  /** Another origin that requests for the GraphQL API are sent to. */
  readonly graphql?: string;
  /** Believes the X-Forwarded-For of clients. */
  readonly believesClients?: boolean;
  readonly compressesNothing?: boolean;
  /** Answers instead of a service. */
  answer?(request: IncomingMessage): Relayed | undefined;
  /** Changes the headers of a request. */
  forward?(headers: IncomingHttpHeaders): void;
  /** Changes a response, after it was compressed. */
  relay?(response: Relayed, request: IncomingMessage): void;
}

export interface Origins {
  readonly rest: string;
  readonly graphql: string;
}

export function openBalancer(origins: Origins, plant: Plant = {}) {
  return openHttpServer(balance(origins, plant));
}

/** The same with TLS. Speaks HTTP/2 too, and tells browsers to use HTTPS alone. */
export async function openTlsBalancer(
  origins: Origins,
  { cert, key }: { readonly cert: string; readonly key: string },
  plant: Plant = {},
) {
  const server = createSecureServer({ cert, key, allowHTTP1: true });
  const listener = balance(origins, plant);
  server.on("request", (req, res) => listener(req as unknown as IncomingMessage, res as never));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    // Its clients are processes that have ended.
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

/** A page of the balancer itself. */
export function ownPage(status: number, headers: IncomingHttpHeaders = {}): Relayed {
  const shown = { "content-type": "text/html", date: new Date().toUTCString(), ...headers };
  return { status, headers: shown, body: Buffer.from(`<html><h1>${status}</h1></html>`) };
}

function balance(origins: Origins, plant: Plant): RequestListener {
  return async (req, res) => {
    // A service may answer before the body has arrived. The whole body first: an early end of either connection is not a plant.
    const sentBody = await buffer(req);
    const relayed = plant.answer?.(req) ?? (await forward(req, sentBody, origins, plant));
    const { encrypted = false } = req.socket as TLSSocket;
    if (encrypted) relayed.headers["strict-transport-security"] = "max-age=31536000";
    if (!plant.compressesNothing) compress(relayed, req);
    plant.relay?.(relayed, req);
    const { status, headers, body } = relayed;
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
    if (req.method !== "HEAD" && status !== 304) res.setHeader("content-length", body.length);
    res.writeHead(status).end(req.method === "HEAD" || status === 304 ? undefined : body);
  };
}

async function forward(req: IncomingMessage, body: Buffer, { rest, graphql }: Origins, plant: Plant): Promise<Relayed> {
  const { url = "", method, socket } = req;
  const isGraphql = url.split("?")[0] === "/graphql";
  // HTTP/2 has headers that begin with a colon.
  const headers: IncomingHttpHeaders = Object.fromEntries(
    Object.entries(req.headers).filter(([name]) => name !== "connection" && !name.startsWith(":")),
  );
  if (!plant.believesClients || headers["x-forwarded-for"] === undefined) {
    headers["x-forwarded-for"] = socket.remoteAddress ?? "";
  }
  plant.forward?.(headers);
  const sent = request(`${isGraphql ? (plant.graphql ?? graphql) : rest}${url}`, { method, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const { connection: _, "keep-alive": _alive, "transfer-encoding": _framing, ...relayed } = response.headers;
  return { status: response.statusCode ?? 0, headers: relayed, body: await buffer(response) };
}

/** As haproxy.cfg does. */
function compress(relayed: Relayed, { method, headers: { "accept-encoding": accepted = "" } }: IncomingMessage): void {
  const { status, headers } = relayed;
  if (!headers["content-type"]?.startsWith("application/json")) return;
  headers.vary = "Accept-Encoding";
  if (method === "HEAD" || (status !== 200 && status !== 201) || !`${accepted}`.includes("gzip")) return;
  if (headers["content-encoding"] !== undefined) return;
  relayed.body = gzipSync(relayed.body);
  headers["content-encoding"] = "gzip";
  if (headers.etag !== undefined) headers.etag = `W/${headers.etag}`;
}
