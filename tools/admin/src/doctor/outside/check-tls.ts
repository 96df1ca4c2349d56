// Whether nobody on the way can read or change what clients send.
import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { isIP } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { isLoopback } from "@petstore/core";
import { Refusal } from "../../command-context.js";
import { type Finding, fault, ok, skipped, warning } from "../finding.js";
import { guideLink } from "../guide-sections.js";
import { exchange, NoResponse } from "./exchange.js";
import type { ListedByBoth } from "./lists.js";
import type { StoreClient, Target } from "./store-client.js";

/** What a TLS connection says about the balancer. `undefined` without TLS, which is right on this machine only. */
export interface Transport {
  readonly certificateEndsAtMs: number;
  readonly speaksHttp2: boolean;
}

/** Throws a refusal before the key could be read on its way. */
export async function inspectTransport(url: URL, timeoutMs: number): Promise<Transport | undefined> {
  if (url.protocol === "http:") {
    if (isLoopback(url.hostname)) return undefined;
    const reason = `${url.origin} has no TLS, so everybody on the way could read the key, and it was not sent`;
    throw new Refusal(`${reason}: give an https address, see ${guideLink("tls-at-the-balancer")}.`);
  }
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = connectTls({
    host,
    port: Number(url.port || 443),
    ALPNProtocols: ["h2", "http/1.1"],
    ...(isIP(host) === 0 && { servername: host }),
  });
  try {
    // Rejects if the certificate is not accepted.
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(timeoutMs) });
    return transportOf(socket);
  } catch (error) {
    throw new NoResponse(url, error, timeoutMs);
  } finally {
    socket.destroy();
  }
}

function transportOf(socket: TLSSocket): Transport {
  return {
    certificateEndsAtMs: Date.parse(socket.getPeerCertificate().valid_to),
    speaksHttp2: socket.alpnProtocol === "h2",
  };
}

const dayMs = 86_400_000;

export function checkCertificate(name: string, { certificateEndsAtMs }: Transport, nowMs: number): Finding {
  const check = `certificate of ${name}`;
  const days = Math.floor((certificateEndsAtMs - nowMs) / dayMs);
  const end = new Date(certificateEndsAtMs).toISOString();
  if (days >= 30) return ok(check, `accepted, and ends at ${end}`);
  const found = `ends in ${days} ${days === 1 ? "day" : "days"}, at ${end}`;
  const advice = "Replace it, and look at the program that should have renewed it.";
  return (days < 14 ? fault : warning)(check, found, advice, "a-certificate-ends-soon");
}

/** A browser that has been here then uses HTTPS alone (RFC 6797). */
export function checkStrictTransport({ rest, graphql }: ListedByBoth): Finding {
  const check = "hsts";
  const policies = [rest, graphql].map(({ headers }) => headers["strict-transport-security"] ?? "");
  if (policies.every((policy) => /max-age="?[1-9]/i.test(policy))) return ok(check, "browsers use HTTPS alone");
  const advice = "Let the balancer send Strict-Transport-Security: max-age=31536000 on every response over TLS.";
  return warning(check, "a response lacks Strict-Transport-Security", advice, "tls-at-the-balancer");
}

/** A port without TLS that drops packets looks like one that is closed. */
const closedMs = 3_000;

/** The port of HTTP beside the usual port of HTTPS: of `--url`, and of the GraphQL API if it has another host. */
export function plainAddressesOf({ rest, graphql }: Target): readonly (URL | undefined)[] {
  const plainRest = rest.port === "" ? new URL(`http://${rest.hostname}/v1/pets`) : undefined;
  if (graphql.hostname === rest.hostname || graphql.port !== "") return [plainRest];
  return [plainRest, new URL(graphql.pathname, `http://${graphql.hostname}`)];
}

/** Sends no key. */
export async function checkPlainHttp(plain: URL | undefined, now: () => number): Promise<Finding> {
  const check = "plain http";
  if (plain === undefined) return skipped(check, "the port of --url is not 443, so that of plain HTTP is not known");
  const received = await exchange({ url: plain, timeoutMs: closedMs, now }).catch(() => undefined);
  if (received === undefined) return ok(check, `${plain.host} does not answer without TLS`);
  const { status, headers } = received;
  if (status >= 300 && status < 400 && headers.location?.startsWith("https:")) return ok(check, "redirects to HTTPS");
  const isOfStore = received.code !== undefined || headers["x-ratelimit-limit"] !== undefined;
  if (status >= 400 && !isOfStore) return ok(check, `refused with ${status}`);
  const found = `${plain.origin} answers ${status} without TLS: a program with this address shows its key to everybody`;
  return fault(check, found, "Let the balancer redirect to HTTPS, or close the port.", "tls-at-the-balancer");
}

/** Asks for the quota, which costs nothing, over HTTP/2 if the balancer offers it. */
export async function checkHttp2({ speaksHttp2 }: Transport, client: StoreClient): Promise<Finding> {
  const check = "http/2";
  if (!speaksHttp2) return ok(check, "not offered; HTTP/1.1 is enough");
  const { status, found } = await askOverHttp2(client);
  if (status === 200) return ok(check, "works");
  const advice = "Correct the balancer, or let it offer HTTP/1.1 alone: browsers choose HTTP/2 if they can.";
  return fault(check, `GET /rate_limit over HTTP/2 ${found}`, advice, "what-a-proxy-must-pass-on");
}

async function askOverHttp2({
  target: { rest },
  key,
  timeoutMs,
}: StoreClient): Promise<{ readonly status: number; readonly found: string }> {
  const session = connectHttp2(rest.origin);
  // The stream fails with it.
  session.on("error", () => {});
  try {
    const stream = session.request({ [constants.HTTP2_HEADER_PATH]: "/rate_limit", authorization: `Bearer ${key}` });
    // `session.destroy` may end it with one.
    stream.on("error", () => {});
    // The balancer may close the connection without an error. The timeout alone would not keep the process alive.
    const closed = new AbortController();
    stream.on("close", () => closed.abort());
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(timeoutMs)]);
    const [headers] = await once(stream, "response", { signal });
    const status = Number(headers[constants.HTTP2_HEADER_STATUS]);
    if (headers["x-ratelimit-limit"] === undefined)
      return { status: 0, found: `got ${status} without X-RateLimit-Limit` };
    return { status, found: `got ${status}` };
  } catch {
    return { status: 0, found: "got no response" };
  } finally {
    session.destroy();
  }
}
