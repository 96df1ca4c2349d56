import type { Core, TracingConfig } from "@petstore/core";
import type { RequestHandler } from "express";
import type { Logger } from "pino";

/** Requests as spans: HTTP, what admission and the catalogue do for it, and each statement. Disposing sends what is left. */
export interface Tracing extends AsyncDisposable {
  /** Opens the span of a request, a child of the caller's where `traceparent` names one. */
  readonly traceRequests: RequestHandler;
  /** The same core, whose calls are spans of the request they are made for. */
  traced(core: Core): Core;
}

export interface TracingDeps {
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Nothing is loaded, wrapped or measured unless somewhere to send traces is configured. */
export async function openTracing(config: TracingConfig | undefined, deps: TracingDeps): Promise<Tracing | undefined> {
  if (config === undefined) return undefined;
  const { openOtlpTracing } = await import("./otlp-tracing.js");
  return openOtlpTracing(config, deps);
}
