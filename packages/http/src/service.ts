import type { Core, HttpConfig } from "@petstore/core";
import type { Router } from "express";
import type { Logger } from "pino";
import { createAdmissionMeter } from "./observability/admission-meter.js";
import type { MetricFamily } from "./observability/metric-family.js";
import { openMetrics } from "./observability/metrics.js";
import { createRequestMeter } from "./observability/request-meter.js";
import { openTracing } from "./observability/tracing.js";
import { type Admission, createAdmission } from "./pipeline/admission.js";
import { createApp } from "./pipeline/app.js";
import { createDocumentServer, type ServeDocuments } from "./pipeline/static-files.js";
import { type Listener, listen } from "./server/listen.js";
import { createMalformedRequestResponse } from "./server/malformed-request.js";
import { watchOverload } from "./server/overload.js";
import { createHttpServer } from "./server/server.js";

/** What an API is built from. */
export interface RouterDeps {
  readonly core: Core;
  readonly admission: Admission;
  readonly serveDocuments: ServeDocuments;
  readonly config: HttpConfig;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** A way into the store: it answers everything below its own paths, problems included, and passes the rest on. */
export type Api = (deps: RouterDeps) => Router;

export interface ServiceOptions extends Omit<RouterDeps, "admission" | "serveDocuments"> {
  readonly apis: readonly Api[];
  /** Metrics of the program around it, to be served with its own. */
  readonly families?: readonly MetricFamily[];
}

export interface Service extends Listener {
  /** Where metrics are scraped; absent unless a port is configured for them. */
  readonly metricsUrl: string | undefined;
}

/**
 * Opens any number of APIs on one port, with metrics and traces where they are configured. Disposing drains it: it says
 * so on `/readyz`, serves on for the grace, ends what is in flight, and sends the last traces.
 */
export async function openService({ apis, families: ofProgram = [], ...deps }: ServiceOptions): Promise<Service> {
  const { config, log } = deps;
  let isDraining = false;
  const tracing = await openTracing(config.tracing, deps);
  const core = tracing?.traced(deps.core) ?? deps.core;
  const overload = watchOverload({ core, shedding: config.shedding });
  const meter = createRequestMeter();
  const admissionMeter = createAdmissionMeter();
  const admission = createAdmission({ core, meter: admissionMeter, overload });
  const serveDocuments = createDocumentServer({ ...deps, admission });
  const routers = apis.map((open) => open({ ...deps, core, admission, serveDocuments }));
  const health = { core, overload, isDraining: () => isDraining };
  const app = createApp({ ...deps, ...health, admission, meter, tracing, routers });
  const server = createHttpServer({
    app,
    answerMalformedRequest: createMalformedRequestResponse({ admission, log, meter }),
    onFault: (error) => log.error({ error }, "connection failed"),
    limits: { maxConnectionsPerAddress: config.maxConnectionsPerAddress },
  });

  const families = [...ofProgram, ...meter.families, ...admissionMeter.families];
  const metrics = await openMetrics({ ...health, config, families });
  const listener = await listen(server, { ...config, graceMs: config.shutdownGraceMs, onDrain }).catch(
    async (error: unknown) => {
      await closeRest();
      throw error;
    },
  );

  function onDrain(): void {
    isDraining = true;
    log.info({ graceMs: config.shutdownGraceMs }, "draining");
  }

  async function closeRest(): Promise<void> {
    overload[Symbol.dispose]();
    await metrics?.[Symbol.asyncDispose]();
    await tracing?.[Symbol.asyncDispose]();
  }

  return {
    url: listener.url,
    port: listener.port,
    metricsUrl: metrics && `${metrics.url}/metrics`,
    async [Symbol.asyncDispose]() {
      await listener[Symbol.asyncDispose]();
      await closeRest();
    },
  };
}
