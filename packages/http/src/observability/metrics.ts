import { createServer, type ServerResponse } from "node:http";
import type { Core, HttpConfig } from "@petstore/core";
import { Counter, collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { type Listener, listen } from "../server/listen.js";
import { answerHealth, type HealthDeps } from "./health.js";

export interface MetricsDeps extends HealthDeps {
  readonly core: Pick<Core, "health" | "stats">;
  readonly config: Pick<HttpConfig, "metricsHost" | "metricsPort">;
  /** Holds the metrics of requests. */
  readonly registry: Registry;
  readonly droppedLogLines: () => number;
}

/**
 * Serves `/metrics` in Prometheus's text format, and the probes with their causes, on an address of its own. Opens
 * nothing when no port is configured.
 */
export async function openMetrics(deps: MetricsDeps): Promise<Listener | undefined> {
  const { config, registry } = deps;
  if (config.metricsPort === undefined) return undefined;
  registerStateMetrics(deps);
  // Memory, CPU, garbage collection and the delay of the event loop.
  collectDefaultMetrics({ register: registry, gcDurationBuckets: [0.01, 0.1, 1] });
  for (const name of manySeries) registry.removeSingleMetric(name);
  const probe = answerHealth(deps, "causes");
  const server = createServer((req, res) => {
    probe(req, res, () => {
      if (req.url === "/metrics" && req.method === "GET") sendMetrics(registry, res);
      else res.writeHead(404).end();
    });
  });
  return listen({ server }, { host: config.metricsHost, port: config.metricsPort });
}

function sendMetrics(registry: Registry, res: ServerResponse): void {
  registry.metrics().then(
    (text) => res.writeHead(200, { "Content-Type": registry.contentType }).end(text),
    // Prometheus reports the failed scrape, and an alert on missing metrics tells the operator.
    () => res.writeHead(500).end(),
  );
}

/** Default metrics with a series for each heap space of V8 and each kind of handle. Their totals stay. */
const manySeries = [
  "nodejs_heap_space_size_total_bytes",
  "nodejs_heap_space_size_used_bytes",
  "nodejs_heap_space_size_available_bytes",
  "nodejs_active_handles",
  "nodejs_active_requests",
  "nodejs_active_resources",
];

/** A metric whose values are read at each scrape: one number, or one for each value of its label. */
interface StateMetric {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly read: () => number | Readonly<Record<string, number>>;
}

function registerStateMetrics({ core, registry, droppedLogLines }: MetricsDeps): void {
  for (const metric of gaugesOf(core)) {
    registry.registerMetric(
      new Gauge({
        ...describe(metric),
        collect() {
          update(this, metric);
        },
      }),
    );
  }
  for (const metric of countersOf(core, droppedLogLines)) {
    registry.registerMetric(
      new Counter({
        ...describe(metric),
        collect() {
          update(this, metric);
        },
      }),
    );
  }
}

function describe({ name, help, label }: StateMetric) {
  return { name, help, labelNames: label === undefined ? [] : [label], registers: [] };
}

function update(metric: Gauge | Counter, { label = "", read }: StateMetric): void {
  metric.reset();
  const values = read();
  if (typeof values === "number") metric.inc(values);
  else for (const [value, count] of Object.entries(values)) metric.inc({ [label]: value }, count);
}

function gaugesOf(core: MetricsDeps["core"]): StateMetric[] {
  return [
    {
      name: "petstore_quota_mode",
      help: "1 for the current quota mode: local by design, shared through Redis, or fallback while Redis is unavailable.",
      label: "mode",
      read: () => ({ local: 0, shared: 0, fallback: 0, [core.health().quotaMode]: 1 }),
    },
    {
      name: "petstore_database_reachable",
      help: "1 while the database answers.",
      read: () => (core.health().isDatabaseReachable ? 1 : 0),
    },
    {
      name: "petstore_database_connections",
      help: "Open connections of the pool, by whether one works for a request.",
      label: "state",
      read() {
        const { open, idle } = core.stats().database;
        return { idle, busy: open - idle };
      },
    },
    {
      name: "petstore_database_waiting",
      help: "Requests that wait for a connection of the pool.",
      read: () => core.stats().database.waiting,
    },
    {
      name: "petstore_key_cache_size",
      help: "Keys remembered, unknown ones included.",
      read: () => core.stats().keyCache.size,
    },
  ];
}

function countersOf(core: MetricsDeps["core"], droppedLogLines: () => number): StateMetric[] {
  return [
    {
      name: "petstore_quota_outages_total",
      help: "How often Redis became unavailable: the breaker opened.",
      read: () => core.stats().quotaOutages,
    },
    {
      name: "petstore_key_lookups_total",
      help: "Well-formed keys: answered from memory, by a query, or refused because their address sent too many unknown ones.",
      label: "result",
      read() {
        const { hits, misses, refusals } = core.stats().keyCache;
        return { hit: hits, miss: misses, refused: refusals };
      },
    },
    {
      name: "petstore_log_lines_dropped_total",
      help: "Lines dropped because standard output could not be written fast enough, or at all.",
      read: droppedLogLines,
    },
  ];
}
