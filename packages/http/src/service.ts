import { type Core, type HttpConfig, type Log, openCore, readConfig } from "@petstore/core";
import type { Router } from "express";
import { Registry } from "prom-client";
import { openMetrics } from "./observability/metrics.js";
import { openLog } from "./observability/open-log.js";
import { watchOverload } from "./observability/overload.js";
import { createRequestMetrics } from "./observability/request-metrics.js";
import { printError } from "./observability/standard-output.js";
import { type AccountTurns, createAccountTurns } from "./pipeline/account-turns.js";
import { type Admission, createAdmission } from "./pipeline/admission.js";
import { createApp } from "./pipeline/app.js";
import { createRateLimitStatus } from "./pipeline/rate-limit-status.js";
import { createStaticFileServer, type ServeStaticFiles } from "./pipeline/static-files.js";
import { type Listener, listen, untilSignal } from "./server/listen.js";
import { createHttpServer } from "./server/server.js";

export interface RouterDeps {
  readonly core: Core;
  readonly admission: Admission;
  /** One queue for both APIs of the process, because both share its event loop. */
  readonly accountTurns: AccountTurns;
  readonly serveStaticFiles: ServeStaticFiles;
  readonly config: HttpConfig;
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The app handles unknown paths, and problems that the router does not handle. */
export type CreateRouter = (deps: RouterDeps) => Router;

export interface ServiceOptions extends Omit<RouterDeps, "admission" | "accountTurns" | "serveStaticFiles"> {
  readonly createRouters: readonly CreateRouter[];
  readonly droppedLogLines: () => number;
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
export async function openService({ createRouters, ...deps }: ServiceOptions): Promise<Service> {
  const { core, config, log, now } = deps;
  const { monotonicNow = performance.now.bind(performance) } = deps;
  let isDraining = false;
  const registry = new Registry();
  const metrics = createRequestMetrics(registry);
  const overload = watchOverload(core, config.shedding);
  const health = { core, overload, isDraining: () => isDraining };
  // OpenTelemetry's SDK is loaded only when traces are configured.
  const tracing = config.tracing && (await import("./observability/tracing.js")).openTracing(config.tracing, log);

  const admission = createAdmission(core, metrics, overload);
  const { serveStaticFiles, serveNotFoundPage } = createStaticFileServer(admission, log, now);
  const routerDeps = { ...deps, admission, accountTurns: createAccountTurns(), serveStaticFiles };
  const routers = createRouters.map((createRouter) => createRouter(routerDeps));
  const rateLimitStatus = createRateLimitStatus(admission, core, monotonicNow);
  const app = createApp({
    ...deps,
    ...health,
    monotonicNow,
    admission,
    metrics,
    tracing,
    routers: [...routers, rateLimitStatus],
    serveNotFoundPage,
  });
  const onError = (error: unknown) => log.error({ error }, "connection failed");
  const { maxConnectionsPerAddress } = config;
  const { server, connections } = createHttpServer(app, onError, { maxConnectionsPerAddress });

  let listener: Listener | undefined;
  let metricsListener: Listener | undefined;

  function onDrain(): void {
    isDraining = true;
    connections.drain();
    log.info({ graceMs: config.shutdownGraceMs }, "draining");
  }

  async function close(): Promise<void> {
    await listener?.[Symbol.asyncDispose]();
    overload[Symbol.dispose]();
    await metricsListener?.[Symbol.asyncDispose]();
    await tracing?.[Symbol.asyncDispose]();
  }

  try {
    metricsListener = await openMetrics({ ...deps, ...health, registry, onError });
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

/**
 * Runs one API until a signal, and then ends the process. If the API cannot start, prints one line and exits with status 1.
 * Log lines and traces show `serviceName`, unless OTEL_SERVICE_NAME is set.
 */
export async function runService(
  environment: NodeJS.ProcessEnv,
  serviceName: string,
  createRouter: CreateRouter,
): Promise<never> {
  const stopped = untilSignal();
  try {
    const config = readConfig({ ...environment, OTEL_SERVICE_NAME: environment.OTEL_SERVICE_NAME || serviceName });
    await using output = openLog(config.log);
    const deps = { log: output.log, now: Date.now, droppedLogLines: output.dropped };
    await using core = await openCore(config, deps);
    await using service = await openService({ ...deps, core, config: config.http, createRouters: [createRouter] });
    output.log.info({ url: service.url, metricsUrl: service.metricsUrl }, "listening");
    await stopped;
  } catch (error) {
    printError(error);
    process.exitCode = 1;
  }
  // All is closed. Without this line, an export of traces to a silent receiver delays the end for up to 5 s.
  process.exit();
}
