import type { QuotaMode } from "@petstore/core";
import { Counter, Histogram, type Registry } from "prom-client";
import type { OverloadReason } from "../server/overload.js";

/**
 * Counts requests and the decisions of admission. A label is a route template, a status or a code, never text of a
 * client, so the number of series is bounded.
 */
export interface RequestMetrics {
  /** `status` is 499 if the client closed the connection before a response. */
  responded(
    request: { readonly route: string; readonly problemCode?: string | undefined },
    method: string,
    status: number,
    durationMs: number,
  ): void;
  /** Counts one quota decision. `bucket` is `address` for a request without a valid key. */
  decided(bucket: "account" | "address", mode: QuotaMode, outcome: (typeof outcomes)[number]): void;
  shed(reason: OverloadReason): void;
}

/** `undecided`: Redis is unavailable, and the configuration does not allow a decision without it. */
const outcomes = ["admitted", "refused", "banned", "impossible", "undecided"] as const;

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: "petstore_http_requests_total",
    help: "Requests answered, by route template, method and status; 499 if the client closed the connection before a response.",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const problems = new Counter({
    name: "petstore_http_problems_total",
    help: "Requests answered with a problem, by route template, method and error code.",
    labelNames: ["route", "method", "code"],
    registers,
  });
  const durations = new Histogram({
    name: "petstore_http_request_duration_seconds",
    help: "From the end of the headers until the response is closed, for GET, HEAD and POST, by route template and method.",
    labelNames: ["route", "method"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5],
    registers,
  });
  const decisions = new Counter({
    name: "petstore_quota_decisions_total",
    help: "Quota decisions by bucket (account, or address without a valid key), mode and outcome.",
    labelNames: ["bucket", "mode", "outcome"],
    registers,
  });
  const shedRequests = new Counter({
    name: "petstore_requests_shed_total",
    help: "Requests refused with 503 because the process was overloaded (load shedding), by the overloaded resource.",
    labelNames: ["reason"],
    registers,
  });

  // An alert on an increase needs the series to exist before the first event.
  for (const reason of ["event-loop", "database"] as const) shedRequests.inc({ reason }, 0);
  for (const bucket of ["account", "address"] as const) {
    for (const mode of ["local", "shared", "fallback"] as const) {
      for (const outcome of outcomes) decisions.inc({ bucket, mode, outcome }, 0);
    }
  }

  return {
    responded({ route, problemCode }, sentMethod, status, durationMs) {
      const method = methodLabel(sentMethod);
      requests.inc({ route, method, status });
      if (problemCode !== undefined) problems.inc({ route, method, code: problemCode });
      if (method === "GET" || method === "POST") durations.observe({ route, method }, durationMs / 1_000);
    },
    decided: (bucket, mode, outcome) => decisions.inc({ bucket, mode, outcome }),
    shed: (reason) => shedRequests.inc({ reason }),
  };
}

/** A client can invent methods. HEAD is GET without the body. */
function methodLabel(method: string): string {
  if (method === "GET" || method === "HEAD") return "GET";
  return method === "POST" || method === "OPTIONS" ? method : "other";
}
