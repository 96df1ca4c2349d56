import { createServer, type ServerResponse } from "node:http";
import type { Core, HttpConfig } from "@petstore/core";
import { collectDefaultMetrics, type Metric, Registry } from "prom-client";
import { type Listener, listen } from "../server/listen.js";
import { answerHealth, type HealthDeps } from "./health.js";
import type { MetricFamily } from "./metric-family.js";

export interface MetricsDeps extends HealthDeps {
  readonly core: Pick<Core, "health" | "stats">;
  readonly config: Pick<HttpConfig, "metricsHost" | "metricsPort">;
  /** What the meters of the service have counted. */
  readonly families: readonly MetricFamily[];
}

/**
 * Serves `/metrics` in Prometheus's text format, and the probes with their causes, on an address of its own; nothing
 * where no port is configured.
 */
export async function openMetrics(deps: MetricsDeps): Promise<Listener | undefined> {
  const { core, config, families } = deps;
  if (config.metricsPort === undefined) return undefined;
  const registry = new Registry();
  for (const family of [...families, ...coreFamilies(core)]) register(registry, family);
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

/** Of V8's eight heap spaces and libuv's kinds of handles; their totals stay. */
const manySeries = [
  "nodejs_heap_space_size_total_bytes",
  "nodejs_heap_space_size_used_bytes",
  "nodejs_heap_space_size_available_bytes",
  "nodejs_active_handles",
  "nodejs_active_requests",
  "nodejs_active_resources",
];

/**
 * prom-client's own counters and histograms hash their labels at every count. Its registry asks a metric for a name and
 * `get` alone, so what is counted elsewhere is registered as just that.
 */
function register(registry: Registry, { name, help, type, samples }: MetricFamily): void {
  const metric = { name, get: async () => ({ name, help, type, values: samples() }) };
  registry.registerMetric(metric as unknown as Metric);
}

function coreFamilies(core: MetricsDeps["core"]): MetricFamily[] {
  return [
    {
      name: "petstore_quota_mode",
      help: "1 for the mode quotas are decided in: local by design, shared through Redis, or fallback while Redis is away.",
      type: "gauge",
      samples() {
        const { quotaMode } = core.health();
        const modes = ["local", "shared", "fallback"] as const;
        return modes.map((mode) => ({ labels: { mode }, value: mode === quotaMode ? 1 : 0 }));
      },
    },
    plain("petstore_quota_outages_total", "counter", "How often Redis has gone away: the breaker opened.", () => {
      return core.stats().quotaOutages;
    }),
    plain("petstore_database_reachable", "gauge", "1 while the database answers.", () => {
      return core.health().isDatabaseReachable ? 1 : 0;
    }),
    {
      name: "petstore_database_connections",
      help: "Open connections of the pool, by whether one works for a request.",
      type: "gauge",
      samples() {
        const { open, idle } = core.stats().database;
        return [
          { labels: { state: "idle" }, value: idle },
          { labels: { state: "busy" }, value: open - idle },
        ];
      },
    },
    plain("petstore_database_waiting", "gauge", "Requests that wait for a connection of the pool.", () => {
      return core.stats().database.waiting;
    }),
    {
      name: "petstore_key_lookups_total",
      help: "Well-formed keys: answered from memory, by a query, or refused because their address sent too many unknown ones.",
      type: "counter",
      samples() {
        const { hits, misses, refusals } = core.stats().keyCache;
        return [
          { labels: { result: "hit" }, value: hits },
          { labels: { result: "miss" }, value: misses },
          { labels: { result: "refused" }, value: refusals },
        ];
      },
    },
    plain("petstore_key_cache_size", "gauge", "Keys remembered, unknown ones included.", () => {
      return core.stats().keyCache.size;
    }),
  ];
}

function plain(name: string, type: "counter" | "gauge", help: string, value: () => number): MetricFamily {
  return { name, type, help, samples: () => [{ labels: {}, value: value() }] };
}
