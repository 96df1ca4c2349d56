// What proxies do to a page of a list: its ETag, its link to the next page, and its response to HEAD.
import { type Finding, fault, ok, skipped, warning } from "../finding.js";
import { firstPage } from "./lists.js";
import type { StoreClient, StoreResponse } from "./store-client.js";

/** The first page of the store, as clients with and without gzip get it. */
export interface FirstPage {
  readonly plain: StoreResponse;
  /** Is not compressed if nothing on the way compresses. */
  readonly zipped: StoreResponse;
  /** Without a next page, the page has no link and no ETag. */
  readonly hasNextPage: boolean;
}

const proxies = "what-a-proxy-must-pass-on";

export function getFirstPage(
  client: StoreClient,
  headers: Readonly<Record<string, string>>,
  method: "GET" | "HEAD" = "GET",
): Promise<StoreResponse> {
  return client.send({ api: "REST", path: firstPage, method, headers, charge: "one unit" });
}

const tooFewPets = "the store has fewer than two pets, so no page has one";

export async function checkEtag(client: StoreClient, { plain, zipped, hasNextPage }: FirstPage): Promise<Finding> {
  const check = "etag";
  if (!hasNextPage) return skipped(check, tooFewPets);
  const { etag } = plain.headers;
  const keep = "Let the proxy pass on ETag and If-None-Match: a client that has the page then gets 304 and no body.";
  if (etag === undefined) return fault(check, "a page has none", keep, proxies);
  if (etag.startsWith("W/")) {
    const advice = "Let the proxy leave the ETag of a response alone that it does not compress.";
    return warning(check, "a page that is not compressed has a weak one", advice, proxies);
  }
  const zippedEtag = zipped.headers.etag;
  if (zippedEtag === undefined) return fault(check, "a compressed page has none", keep, proxies);
  if (zipped.headers["content-encoding"] !== undefined && !zippedEtag.startsWith("W/")) {
    const found = `a compressed page has the strong one ${zippedEtag}: its bytes are not those of the service`;
    return fault(check, found, "Let the proxy make the ETag weak when it compresses.", "the-balancer");
  }
  for (const [encoding, known] of [
    ["identity", etag],
    ["gzip", zippedEtag],
  ] as const) {
    const { status } = await getFirstPage(client, { "Accept-Encoding": encoding, "If-None-Match": known });
    if (status === 304) continue;
    const found = `a client that sends If-None-Match: ${known} gets ${status} and not 304, with Accept-Encoding: ${encoding}`;
    return fault(check, found, keep, proxies);
  }
  return ok(check, "strong, weak if compressed, and a client that has the page gets 304");
}

/** `rateLimit` is the response to GET /rate_limit, which always has links. */
export function checkLinks(client: StoreClient, rateLimit: StoreResponse, { plain, hasNextPage }: FirstPage): Finding {
  const check = "link";
  const keep = "Let the proxy pass on Link: clients find the next page in it.";
  if (!/rel="?service-desc/.test(rateLimit.headers.link ?? "")) {
    return fault(check, `${rateLimit.request} has none`, keep, proxies);
  }
  if (!hasNextPage) return ok(check, "passed on; no page has a next one, because the store has fewer than two pets");
  const next = /<([^>]*)>; *rel="?next/.exec(plain.headers.link ?? "")?.[1];
  if (next === undefined) return fault(check, "a page that has a next page has none", keep, proxies);
  const { origin } = client.target.rest;
  const leadsTo = URL.canParse(next, origin) ? new URL(next, origin).origin : next;
  if (leadsTo === origin) return ok(check, "the link to the next page leads to this address");
  const advice = `Set PUBLIC_URL=${origin} for the REST API, and let the proxy leave Link alone.`;
  return fault(check, `the link to the next page leads to ${leadsTo}`, advice, proxies);
}

/** Of these headers, HEAD has to have those of GET (RFC 9110 section 9.3.2). Content-Length may be absent. */
const comparedHeaders = ["content-type", "etag", "link", "cache-control", "vary"];

export async function checkHead(client: StoreClient, { plain }: FirstPage): Promise<Finding> {
  const check = "head";
  const head = await getFirstPage(client, { "Accept-Encoding": "identity" }, "HEAD");
  const advice = "Let the proxy pass on HEAD and its response as they are.";
  if (head.status !== plain.status) {
    return fault(check, `HEAD gets ${head.status} where GET gets ${plain.status}`, advice, proxies);
  }
  const differing = comparedHeaders.filter((name) => head.headers[name] !== plain.headers[name]);
  const length = head.headers["content-length"];
  if (length !== undefined && length !== `${Buffer.byteLength(plain.body)}`) differing.push("content-length");
  if (differing.length === 0) return ok(check, "answered with the headers of GET");
  return fault(check, `HEAD and GET differ in ${differing.join(", ")}`, advice, proxies);
}
