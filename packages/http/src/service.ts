import { type Core, createAdmission, type HttpConfig, type Log } from "@petstore/core";
import { Registry } from "prom-client";
import type { CreateApi } from "./api.js";
import { createHealthCheck } from "./observability/health.js";
import { openMetrics } from "./observability/metrics.js";
import { watchOverload } from "./observability/overload.js";
import { createRequestMetrics } from "./observability/request-metrics.js";
import { createAccountTurns } from "./pipeline/account-turns.js";
import { createApp } from "./pipeline/app.js";
import { createPreflight } from "./pipeline/preflight.js";
import { createProbes } from "./pipeline/probes.js";
import { createRateLimitStatus } from "./pipeline/rate-limit-status.js";
import { createStaticFiles } from "./pipeline/static-files.js";
import { createUsageHistory } from "./pipeline/usage-history.js";
import { type Listener, listen } from "./server/listen.js";
import { createHttpServer } from "./server/server.js";

interface ServiceDeps {
  readonly core: Core;
  readonly log: Log;
  readonly droppedLogLines: () => number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The clock of durations, in milliseconds. */
  readonly monotonicNow?: () => number;
}

export interface Service extends Listener {
  /** For Prometheus. Absent unless a port for metrics is configured. */
  readonly metricsUrl: string | undefined;
}

/**
 * Serves APIs on one port, with metrics and traces if they are configured. Disposing drains the service: `/readyz` reports
 * `draining`, requests are served during the grace period, requests in flight finish, and the last traces are sent.
 */
export async function openService(
  config: HttpConfig,
  createApis: readonly CreateApi[],
  { core, log, droppedLogLines, now, monotonicNow = performance.now.bind(performance) }: ServiceDeps,
): Promise<Service> {
  let isDraining = false;
  const registry = new Registry();
  const metrics = createRequestMetrics(registry);
  const overload = watchOverload(core, config.shedding);
  const checkHealth = createHealthCheck(core.health, overload, () => isDraining);
  // OpenTelemetry's SDK is loaded only when traces are configured.
  const tracing = config.tracing && (await import("./observability/tracing.js")).openTracing(config.tracing, log);

  const { authenticator, accountQuota, addressQuota, anonymousLimits, usageCounters, catalogue } = core;
  const admission = createAdmission({
    authenticator,
    accountQuota,
    addressQuota,
    anonymousLimits,
    usageCounters,
    overload,
    metrics,
    monotonicNow,
  });
  const accountTurns = createAccountTurns();
  const apis = createApis.map((createApi) => createApi({ catalogue, accountTurns, config, log, now }));
  const files = apis.flatMap((api) => api.files);
  const redirects = new Map(apis.flatMap((api) => Object.entries(api.redirects ?? {})));
  const resources = apis.flatMap((api) => api.resources);
  const app = createApp([...resources, createRateLimitStatus(monotonicNow), createUsageHistory(core, monotonicNow)], {
    admission,
    findProbe: createProbes(admission, checkHealth, now),
    answerPreflight: createPreflight(admission, now),
    findFile: createStaticFiles(admission, files, redirects, now),
    log,
    metrics,
    tracing,
    monotonicNow,
  });
  const onError = (error: unknown) => log.error({ error }, "connection failed");
  const { maxConnectionsPerAddress, trustedProxies } = config;
  const { server, drain } = createHttpServer(app, onError, { maxConnectionsPerAddress }, trustedProxies);

  let listener: Listener | undefined;
  let metricsListener: Listener | undefined;

  function onDrain(): void {
    isDraining = true;
    drain();
    log.info({ graceMs: config.shutdownGraceMs }, "draining");
  }

  async function close(): Promise<void> {
    await listener?.[Symbol.asyncDispose]();
    overload[Symbol.dispose]();
    await metricsListener?.[Symbol.asyncDispose]();
    await tracing?.[Symbol.asyncDispose]();
  }

  try {
    const { metricsHost, metricsPort } = config;
    if (metricsPort !== undefined) {
      metricsListener = await openMetrics(metricsHost, metricsPort, {
        core,
        registry,
        checkHealth,
        droppedLogLines,
        onError,
      });
    }
    listener = await listen(server, { ...config, graceMs: config.shutdownGraceMs, onDrain, onError });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: listener.url,
    port: listener.port,
    metricsUrl: metricsListener && `${metricsListener.url}/metrics`,
    [Symbol.asyncDispose]: close,
  };
}
