import type { QuotaMode } from "@petstore/core";
import type { LabelValues, Registry } from "prom-client";
import type { OverloadReason } from "../server/overload.js";
import {
  type DecisionOutcome,
  type DurationLabel,
  defineRequestMetrics,
  type MethodLabel,
  type RequestsInFlight,
  type Scheme,
} from "./request-metric-definitions.js";

/**
 * Counts requests and the decisions of admission. Names, labels and buckets of the HTTP metrics are those of OpenTelemetry's
 * semantic conventions. A label is a route template, a status or a code, never text of a client, so the number of series
 * is bounded.
 */
export interface RequestMetrics {
  started(method: string, scheme: Scheme): void;
  /** `status` is 499 if the client closed the connection before a response. Called once for each started request. */
  ended(request: EndedRequest, method: string, status: number, durationMs: number): void;
  /** Counts bytes that could not be parsed as a request. */
  malformed(problemCode: string, status: number, durationMs: number): void;
  /** Counts one quota decision. `bucket` is `address` for a request without a valid key. */
  decided(bucket: "account" | "address", mode: QuotaMode, outcome: DecisionOutcome): void;
  shed(reason: OverloadReason): void;
}

interface EndedRequest {
  readonly route: string;
  readonly scheme: Scheme;
  readonly problemCode?: string | undefined;
}

export function createRequestMetrics(registry: Registry): RequestMetrics {
  const inFlight: RequestsInFlight = { http: { ...noRequests }, https: { ...noRequests } };
  const { durations, problems, decisions, shedRequests } = defineRequestMetrics(registry, inFlight);

  function record(request: EndedRequest, method: string, status: number, durationMs: number): void {
    const { route, scheme, problemCode } = request;
    const labels: LabelValues<DurationLabel> = {
      http_request_method: method,
      http_route: route,
      http_response_status_code: status,
      url_scheme: scheme,
    };
    if (problemCode !== undefined) {
      problems.inc({ code: problemCode });
      // By the convention, a refusal of a faulty request is no error of the server.
      if (status >= 500) labels.error_type = problemCode;
    }
    durations.observe(labels, durationMs / 1_000);
  }

  return {
    started(method, scheme) {
      inFlight[scheme][methodLabel(method)] += 1;
    },
    ended(request, sentMethod, status, durationMs) {
      const method = methodLabel(sentMethod);
      inFlight[request.scheme][method] -= 1;
      record(request, method, status, durationMs);
    },
    malformed: (problemCode, status, durationMs) =>
      record({ route: "malformed", scheme: "http", problemCode }, "_OTHER", status, durationMs),
    decided: (bucket, mode, outcome) => decisions.inc({ bucket, mode, outcome }),
    shed: (reason) => shedRequests.inc({ reason }),
  };
}

const noRequests = { GET: 0, POST: 0, OPTIONS: 0, _OTHER: 0 };

/** A client can invent methods. HEAD is GET without the body. */
function methodLabel(method: string): MethodLabel {
  if (method === "GET" || method === "HEAD") return "GET";
  return method === "POST" || method === "OPTIONS" ? method : "_OTHER";
}
