// Whether a browser application of another origin can use the APIs.
import { type Finding, fault, ok } from "../finding.js";
import { quotaHeaders } from "./check-headers.js";
import { byApi, firstPage, type ListedByBoth } from "./lists.js";
import type { ApiName, StoreClient } from "./store-client.js";

export async function checkCors(client: StoreClient, lists: ListedByBoth): Promise<Finding> {
  const check = "cors";
  const preflights = [await preflightFaults(client, "REST", firstPage), await preflightFaults(client, "GraphQL")];
  const faults = [...preflights.flat(), ...exposureFaults(lists)];
  if (faults.length === 0) return ok(check, "browser applications of any origin may call both APIs");
  const advice =
    "Let the proxy pass on OPTIONS and all Access-Control headers of the services, and add none of its own.";
  return fault(check, faults.join("; "), advice, "what-a-proxy-must-pass-on");
}

const neededHeaders = ["authorization", "content-type", "idempotency-key"];

async function preflightFaults(client: StoreClient, api: ApiName, path?: string): Promise<readonly string[]> {
  const { status, headers } = await client.send({
    api,
    ...(path !== undefined && { path }),
    method: "OPTIONS",
    headers: {
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": neededHeaders.join(","),
    },
    // As a browser sends it.
    charge: "without key",
  });
  if (status < 200 || status > 299) return [`${api} answers a preflight request with ${status}`];
  const allowed = headers["access-control-allow-origin"];
  if (allowed !== "*") return [`${api} allows the origin ${allowed ?? "(none)"} in a preflight request, and not *`];
  const names = listedIn(headers["access-control-allow-headers"]);
  const refused = neededHeaders.filter((name) => !names.has(name));
  if (refused.length > 0) return [`${api} allows no request header ${refused.join(", ")}`];
  return listedIn(headers["access-control-allow-methods"]).has("post") ? [] : [`${api} allows no POST`];
}

/** A script of another origin reads only these headers. A test compares them with those of the services. */
export const exposedHeaders: readonly string[] = [
  "Allow",
  "API-Key-Expires",
  "Date",
  "Deprecation",
  "ETag",
  "Idempotency-Replayed",
  "Link",
  ...quotaHeaders,
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-Request-Id",
];

/** What is wrong with the CORS headers of the lists. */
function exposureFaults(lists: ListedByBoth): readonly string[] {
  return byApi(lists).flatMap(([api, { headers }]) => {
    const allowed = headers["access-control-allow-origin"];
    // Browsers refuse a response that names two origins.
    if (allowed !== "*") return [`${api} allows the origin ${allowed ?? "(none)"} and not *`];
    const names = listedIn(headers["access-control-expose-headers"]);
    const hidden = exposedHeaders.filter((name) => !names.has(name.toLowerCase()));
    return hidden.length === 0 ? [] : [`${api} hides ${hidden.join(", ")} from scripts`];
  });
}

/** The members of a header that is a list, in lower case. */
function listedIn(value = ""): ReadonlySet<string> {
  return new Set(value.toLowerCase().split(/\s*,\s*/));
}
