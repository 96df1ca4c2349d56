import { createServer } from "node:http";
import { type Core, type DatabaseCall, databaseCalls } from "@petstore/core";
import { Counter, collectDefaultMetrics, Gauge, type GaugeConfiguration, Histogram, type Registry } from "prom-client";
import { type Listener, listen } from "../server/listen.js";
import { jsonMediaType } from "../server/media-types.js";
import type { CheckHealth } from "./health.js";
import { readVersion } from "./open-log.js";

interface MetricsDeps {
  readonly core: Pick<Core, "health" | "stats">;
  readonly registry: Registry;
  readonly checkHealth: CheckHealth;
  readonly droppedLogLines: () => number;
  readonly onError: (error: unknown) => void;
}

/** Serves `/metrics`, and the probes with their causes, on an address of its own. */
export async function openMetrics(host: string, port: number, deps: MetricsDeps): Promise<Listener> {
  const { registry, checkHealth, onError } = deps;
  registerStateMetrics(deps);
  collectDefaultMetrics({ register: registry, gcDurationBuckets: [0.01, 0.1, 1] });
  // Three series for each part of V8's heap tell an operator no more than the size of the heap.
  for (const part of ["total", "used", "available"]) {
    registry.removeSingleMetric(`nodejs_heap_space_size_${part}_bytes`);
  }
  const server = createServer(({ method = "", url = "" }, res) => {
    const health = checkHealth(method, url);
    if (health !== undefined) {
      const [status, report] = health;
      res.writeHead(status, { "Content-Type": jsonMediaType, "Cache-Control": "no-store" }).end(JSON.stringify(report));
      return;
    }
    if (url !== "/metrics" || method !== "GET") {
      res.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => res.writeHead(200, { "Content-Type": registry.contentType }).end(text),
      // Prometheus reports the failed scrape, and an alert on missing metrics tells the operator.
      () => res.writeHead(500).end(),
    );
  });
  // A scrape or an idle connection must not delay the end of the service.
  const options = {
    host,
    port,
    variables: { host: "METRICS_HOST", port: "METRICS_PORT" },
    drainTimeoutMs: 100,
    onError,
  };
  const listener = await listen(server, options);
  const stopMeasuring = measureDatabaseCalls(registry);
  return {
    ...listener,
    async [Symbol.asyncDispose]() {
      stopMeasuring();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** `start` and `asyncEnd` receive the same object, so the start time can be kept on it. */
type MeasuredCall = DatabaseCall & { startedAtMs?: number };

/** Returns a function that stops it. OpenTelemetry's semantic conventions define the name, the labels and the buckets. */
function measureDatabaseCalls(registry: Registry): () => void {
  const durations = new Histogram({
    name: "db_client_operation_duration_seconds",
    help: "From the call until its answer, with the time in the queue of the pool, by database and statement or script.",
    labelNames: ["db_system_name", "db_query_summary"],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers: [registry],
  });
  const listeners = {
    start(call: MeasuredCall) {
      call.startedAtMs = performance.now();
    },
    end() {},
    asyncStart() {},
    asyncEnd({ system, name, startedAtMs }: MeasuredCall) {
      // The call may have begun before this subscription.
      if (startedAtMs === undefined) return;
      const labels = { db_system_name: system, db_query_summary: name };
      durations.observe(labels, (performance.now() - startedAtMs) / 1_000);
    },
    error() {},
  };
  databaseCalls.subscribe(listeners);
  return () => void databaseCalls.unsubscribe(listeners);
}

type QuotaShard = ReturnType<Core["stats"]>["quotaShards"][number];

/** One number, or one for each value of the label. */
type Values = number | Readonly<Record<string, number>>;

type MetricClass = new (config: GaugeConfiguration<string> & { collect(): void }) => Gauge | Counter;

/** Metrics that are read at each scrape. */
function registerStateMetrics({ core, registry, droppedLogLines }: MetricsDeps): void {
  function add(Metric: MetricClass, name: string, help: string, read: () => Values, label?: string): void {
    const collect = () => {
      const values = read();
      metric.reset();
      if (typeof values === "number") metric.inc(values);
      else for (const [value, count] of Object.entries(values)) metric.inc({ [label ?? ""]: value }, count);
    };
    const metric = new Metric({
      name,
      help,
      labelNames: label === undefined ? [] : [label],
      registers: [registry],
      collect,
    });
  }

  const build = { [readVersion()]: 1 };
  add(Gauge, "petstore_build_info", "1; the label is the version of the running release.", () => build, "version");
  const database = () => core.stats().database;
  const reachable = () => Number(core.health().isDatabaseReachable);
  add(Gauge, "petstore_database_reachable", "1 while the database answers.", reachable);
  add(Gauge, "petstore_database_waiting", "Requests that wait for a connection of the pool.", () => database().waiting);
  add(
    Gauge,
    "petstore_database_connections",
    "Open connections of the pool, by whether one works for a request.",
    () => ({ idle: database().idle, busy: database().open - database().idle }),
    "state",
  );
  const poolSize = () => core.stats().databasePoolSize;
  add(Gauge, "petstore_database_connections_max", "The most connections that the pool may open.", poolSize);
  add(
    Gauge,
    "petstore_quota_mode",
    "1 for the current quota mode: local by design, shared through Redis, or fallback while Redis is unavailable.",
    () => ({ local: 0, shared: 0, fallback: 0, [core.health().quotaMode]: 1 }),
    "mode",
  );
  const bans = () => core.stats().bansBegun;
  add(Counter, "petstore_quota_bans_total", "Bans of API keys that this instance has begun.", bans);
  const lost =
    "1 while this instance decides alone about the accounts of a shard of a Redis Cluster, by its lowest slot.";
  const byShard = (read: (shard: QuotaShard) => number) => {
    const values: Record<string, number> = {};
    for (const shard of core.stats().quotaShards) if (shard.name !== undefined) values[shard.name] = read(shard);
    return values;
  };
  add(Gauge, "petstore_quota_shard_fallback", lost, () => byShard(({ isShared }) => Number(!isShared)), "shard");
  const outages = () => {
    const { quotaShards } = core.stats();
    const isCluster = quotaShards.some(({ name }) => name !== undefined);
    if (isCluster) return byShard((shard) => shard.outages);
    return quotaShards.reduce((sum, shard) => sum + shard.outages, 0);
  };
  const outagesHelp = "How often Redis became unavailable: the breaker opened. In a Redis Cluster by shard.";
  add(Counter, "petstore_quota_outages_total", outagesHelp, outages, "shard");
  add(
    Counter,
    "petstore_key_lookups_total",
    "Well-formed keys: answered from memory, by a query, or refused because too many unknown ones came.",
    () => {
      const { hits, misses, refusals } = core.stats().keyCache;
      return { hit: hits, miss: misses, refused: refusals };
    },
    "result",
  );
  add(Gauge, "petstore_key_cache_size", "Keys remembered, unknown ones included.", () => core.stats().keyCache.size);
  const ending = "API keys that end within 14 days and were used within 7, counted once a minute.";
  add(Gauge, "petstore_ending_keys", ending, () => core.stats().endingKeys);
  const lists = () => core.stats();
  add(
    Counter,
    "petstore_list_pages_total",
    "Pages of lists: served from memory (hit), or read from PostgreSQL (miss).",
    () => ({ hit: lists().keptPages.hits, miss: lists().keptPages.misses }),
    "result",
  );
  add(Gauge, "petstore_kept_pages", "Pages of lists in memory, old ones included.", () => lists().keptPages.pages);
  add(Gauge, "petstore_kept_pages_bytes", "Their estimated size.", () => lists().keptPages.bytes);
  add(
    Counter,
    "petstore_settle_waits_total",
    "Pages that waited until no pet could appear before their end: settled, late (an insert stayed open), or not drawn (an id that does not come from the sequence).",
    () => {
      const { settled, late, "not drawn": notDrawn } = lists().settledIds.waits;
      return { settled, late, not_drawn: notDrawn };
    },
    "result",
  );
  const waited = () => lists().settledIds.waitedMs / 1_000;
  add(Counter, "petstore_settle_wait_seconds_total", "How long these pages waited together.", waited);
  const shortened = "Pages that said that no page follows, because an insert stayed open for too long.";
  add(Counter, "petstore_shortened_pages_total", shortened, () => lists().shortenedPages);
  const forgotten = "Transactions that keep an insert into pets open for so long that lists ignore it.";
  add(Gauge, "petstore_forgotten_inserts", forgotten, () => lists().settledIds.forgottenInserts);
  const usage = () => core.stats().usage;
  const usageRows = "Rows of the usage history that this instance has added to.";
  add(Counter, "petstore_usage_rows_written_total", usageRows, () => usage().rowsWritten);
  const usageFailures = "Failed writes of the usage history. Their counts stay in memory and are written later.";
  add(Counter, "petstore_usage_write_failures_total", usageFailures, () => usage().failedWrites);
  const usageDropped = "Units and refusals missing in the usage history, because too many counts were unwritten.";
  add(Counter, "petstore_usage_dropped_total", usageDropped, () => usage().dropped);
  const dropped = "Lines dropped because standard output could not be written fast enough, or at all.";
  add(Counter, "petstore_log_lines_dropped_total", dropped, droppedLogLines);
}
