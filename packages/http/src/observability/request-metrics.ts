/** Counts requests, and the decisions of the quota, in the metrics. */
import type { AdmissionMetrics } from "@petstore/core";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type CompletedRequest, clientClosedRequest } from "./completed-request.js";

/**
 * OpenTelemetry's semantic conventions define names, labels and buckets of the HTTP metrics. No label holds text of a
 * client, so the number of series is bounded.
 */
export interface RequestMetrics extends AdmissionMetrics {
  started(request: Pick<CompletedRequest, "method" | "scheme">): void;
  ended(request: CompletedRequest): void;
}

const outcomes = ["admitted", "refused", "banned", "impossible", "undecided"] as const;

const methods = ["GET", "POST", "OPTIONS", "_OTHER"];

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry];
  const inFlight = new Gauge({
    name: "http_server_active_requests",
    help: "Requests in flight, by method and scheme.",
    labelNames: ["http_request_method", "url_scheme"],
    registers,
  });
  const durations = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "From the end of the headers until the response is closed; status 499 if the client left before the response.",
    labelNames: ["http_request_method", "http_route", "http_response_status_code", "url_scheme", "error_type"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    registers,
  });
  const problems = new Counter({
    name: "petstore_http_problems_total",
    help: "Requests answered with a problem, by error code.",
    labelNames: ["code"],
    registers,
  });
  const brownouts = new Counter({
    name: "petstore_brownout_responses_total",
    help: "Requests refused with 410 in a brownout, which rehearses the removal of a deprecated operation.",
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

  // Without these series, an alert on an increase misses the first event, and a panel has no data.
  for (const http_request_method of methods) {
    for (const url_scheme of ["http", "https"]) inFlight.set({ http_request_method, url_scheme }, 0);
  }
  for (const reason of ["event-loop", "database"]) shedRequests.inc({ reason }, 0);
  for (const code of ["INTERNAL_ERROR", "SERVICE_UNAVAILABLE"]) problems.inc({ code }, 0);
  for (const bucket of ["account", "address"]) {
    for (const mode of ["local", "shared", "fallback"]) {
      for (const outcome of outcomes) decisions.inc({ bucket, mode, outcome }, 0);
    }
  }

  return {
    started: ({ method, scheme }) => inFlight.inc({ http_request_method: methodLabel(method), url_scheme: scheme }),
    ended({ method: sentMethod, route, scheme, status = clientClosedRequest, durationMs, problemCode, isBrownout }) {
      const method = methodLabel(sentMethod);
      inFlight.dec({ http_request_method: method, url_scheme: scheme });
      if (problemCode !== undefined) problems.inc({ code: problemCode });
      if (isBrownout) brownouts.inc();
      const labels = {
        http_request_method: method,
        http_route: route,
        http_response_status_code: status,
        url_scheme: scheme,
        // By the convention, a 4xx is not an error of the server.
        ...(problemCode !== undefined && status >= 500 && { error_type: problemCode }),
      };
      durations.observe(labels, durationMs / 1_000);
    },
    decided: (bucket, mode, outcome) => decisions.inc({ bucket, mode, outcome }),
    shed: (reason) => shedRequests.inc({ reason }),
  };
}

/** A client can invent methods. HEAD is GET without the body. */
function methodLabel(method: string): string {
  if (method === "HEAD") return "GET";
  return methods.includes(method) ? method : "_OTHER";
}
