// Headers of every response of the APIs that a proxy may remove or replace.
import { type Finding, fault, ok } from "../finding.js";
import { byApi, type ListedByBoth } from "./lists.js";

const proxies = "what-a-proxy-must-pass-on";

export const quotaHeaders: readonly string[] = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
];

export function checkQuotaHeaders(lists: ListedByBoth): Finding {
  const check = "rate-limit headers";
  const missing = byApi(lists).flatMap(([api, { headers }]) => {
    const names = quotaHeaders.filter((name) => !headers[name.toLowerCase()]);
    return names.length === 0 ? [] : [`${api} lacks ${names.join(", ")}`];
  });
  if (missing.length === 0) return ok(check, "both APIs show them");
  const advice = "Let the proxy pass them on: clients need them to stay within their limits.";
  return fault(check, missing.join("; "), advice, proxies);
}

export function checkRequestId(lists: ListedByBoth): Finding {
  const check = "request id";
  const wrong = byApi(lists).flatMap(([api, { headers, sentId }]) => {
    const id = headers["x-request-id"];
    if (id === sentId) return [];
    return [id === undefined ? `${api} returns none` : `${api} returns another one than the client has sent`];
  });
  if (wrong.length === 0) return ok(check, "the client's own comes back");
  const advice =
    "Let the proxy pass X-Request-Id on, in both directions: it leads from a client to the line of the log.";
  return fault(check, wrong.join("; "), advice, proxies);
}
