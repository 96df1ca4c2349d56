import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type Scheme = "http" | "https";

export type MethodLabel = "GET" | "POST" | "OPTIONS" | "_OTHER";

export type RequestsInFlight = Readonly<Record<Scheme, Record<MethodLabel, number>>>;

export type DurationLabel = (typeof durationLabels)[number];

export type DecisionOutcome = (typeof outcomes)[number];

interface RequestMetricDefinitions {
  readonly durations: Histogram<DurationLabel>;
  readonly problems: Counter<"code">;
  readonly decisions: Counter<"bucket" | "mode" | "outcome">;
  readonly shedRequests: Counter<"reason">;
}

const durationLabels = [
  "http_request_method",
  "http_route",
  "http_response_status_code",
  "url_scheme",
  "error_type",
] as const;

/** `undecided`: Redis is unavailable, and the configuration does not allow a decision without it. */
const outcomes = ["admitted", "refused", "banned", "impossible", "undecided"] as const;

/** Names, labels and buckets of the metrics that `createRequestMetrics` records. */
export function defineRequestMetrics(registry: Registry, inFlight: RequestsInFlight): RequestMetricDefinitions {
  const registers = [registry];
  // Two calls of a gauge would double the cost of these metrics, so the counts are read at each scrape.
  new Gauge({
    name: "http_server_active_requests",
    help: "Requests in flight, by method and scheme.",
    labelNames: ["http_request_method", "url_scheme"],
    registers,
    collect() {
      for (const [scheme, counts] of Object.entries(inFlight)) {
        for (const [method, count] of Object.entries(counts)) {
          this.set({ http_request_method: method, url_scheme: scheme }, count);
        }
      }
    },
  });
  const durations = new Histogram({
    name: "http_server_request_duration_seconds",
    help: "From the end of the headers until the response is closed; status 499 if the client closed the connection first.",
    labelNames: durationLabels,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    registers,
  });
  const problems = new Counter({
    name: "petstore_http_problems_total",
    help: "Requests answered with a problem, by error code.",
    labelNames: ["code"],
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
  return { durations, problems, decisions, shedRequests };
}
