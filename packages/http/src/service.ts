import type { Core, HttpConfig } from "@petstore/core";
import type { Router } from "express";
import type { Logger } from "pino";
import { type Admission, createAdmission } from "./admission.js";
import { createAdmissionMeter } from "./admission-meter.js";
import { createApp } from "./app.js";
import { createDocumentServer, type ServeDocuments } from "./documents.js";
import { type Listener, listen } from "./listen.js";
import type { MetricFamily } from "./metric-family.js";
import { openMetrics } from "./metrics.js";
import { watchOverload } from "./overload.js";
import { createRequestMeter } from "./request-meter.js";
import { createHttpServer } from "./server.js";
import { openTracing } from "./tracing.js";
import { createUnparsedAnswer } from "./unparsed-answer.js";

/** What a door is built from. */
export interface DoorDeps {
  readonly core: Core;
  readonly admission: Admission;
  readonly serveDocuments: ServeDocuments;
  readonly config: HttpConfig;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** A way into the store: it answers everything below its own paths, problems included, and passes the rest on. */
export type Door = (deps: DoorDeps) => Router;

export interface ServiceOptions extends Omit<DoorDeps, "admission" | "serveDocuments"> {
  readonly doors: readonly Door[];
  /** Metrics of the program around it, to be served with its own. */
  readonly families?: readonly MetricFamily[];
}

export interface Service extends Listener {
  /** Where metrics are scraped; absent unless a port is configured for them. */
  readonly metricsUrl: string | undefined;
}

/**
 * Opens any number of doors on one port, with metrics and traces where they are configured. Disposing drains it: it says
 * so on `/readyz`, serves on for the grace, ends what is in flight, and sends the last traces.
 */
export async function openService({ doors, families: ofProgram = [], ...deps }: ServiceOptions): Promise<Service> {
  const { config, log } = deps;
  let isDraining = false;
  const tracing = await openTracing(config.tracing, deps);
  const core = tracing?.traced(deps.core) ?? deps.core;
  const overload = watchOverload({ core, shedding: config.shedding });
  const meter = createRequestMeter();
  const admissionMeter = createAdmissionMeter();
  const admission = createAdmission({ core, meter: admissionMeter, overload });
  const serveDocuments = createDocumentServer({ ...deps, admission });
  const routers = doors.map((open) => open({ ...deps, core, admission, serveDocuments }));
  const health = { core, overload, isDraining: () => isDraining };
  const app = createApp({ ...deps, ...health, admission, meter, tracing, routers });
  const server = createHttpServer({
    app,
    answerUnparsed: createUnparsedAnswer({ admission, log, meter }),
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
