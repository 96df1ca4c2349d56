// Whether JSON is compressed for clients that accept it, and whether caches can tell the two forms apart.
import { type Finding, fault, ok, warning } from "../finding.js";
import type { FirstPage } from "./check-pages.js";
import type { ApiName, StoreClient, StoreResponse } from "./store-client.js";

/** A proxy may leave smaller content alone. */
const worthwhileBytes = 1_000;

/** Several thousand characters in any store. */
const introspection = "{ __schema { types { name description fields { name description } } } }";

export async function checkCompression(client: StoreClient, { plain, zipped }: FirstPage): Promise<Finding> {
  const check = "compression";
  const headers = { "Accept-Encoding": "gzip" };
  const list = await client.send({ api: "REST", path: "/v1/pets?limit=100", headers, charge: "one unit" });
  const body = JSON.stringify({ query: introspection });
  const schema = await client.send({ api: "GraphQL", method: "POST", headers, body, charge: "one unit" });
  const large: readonly (readonly [ApiName, StoreResponse])[] = [
    ...(list.body.length >= worthwhileBytes ? [["REST", list] as const] : []),
    ["GraphQL", schema],
  ];

  const zippedForms = [list, schema, zipped].filter(isCompressed);
  // Where one form is compressed, a cache must not give it to a client that does not accept it.
  const varying = isCompressed(zipped) ? [...zippedForms, plain] : zippedForms;
  const fixed = varying.filter(({ headers: { vary = "" } }) => !/accept-encoding|\*/i.test(vary));
  if (fixed.length > 0) {
    const requests = [...new Set(fixed.map(({ request }) => request))].join(", ");
    const found = `responses differ by Accept-Encoding without Vary: Accept-Encoding (${requests})`;
    const advice = "Let the proxy that compresses add Vary, to the uncompressed form too.";
    return fault(check, found, advice, "the-balancer");
  }
  const uncompressed = large.filter(([, response]) => !isCompressed(response)).map(([api]) => api);
  if (uncompressed.length === 0) return ok(check, "JSON is compressed with gzip for clients that accept it");
  const found = `JSON of ${uncompressed.join(" and ")} is not compressed: a page of 100 pets is about 6 times larger`;
  return warning(check, found, "Compress JSON at the balancer, as haproxy.cfg does.", "the-balancer");
}

function isCompressed({ headers }: StoreResponse): boolean {
  return headers["content-encoding"] !== undefined;
}
