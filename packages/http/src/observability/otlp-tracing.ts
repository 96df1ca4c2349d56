/**
 * Traces over OTLP/HTTP. Loaded only where they are sent somewhere. The request a call belongs to travels in an
 * AsyncLocalStorage of our own, so nothing of OpenTelemetry becomes global, and nothing in the process is patched.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Problem, type TracedQuery, type TracingConfig } from "@petstore/core";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { contextOf } from "../pipeline/request-context.js";
import { type Within, withSpans } from "./traced-core.js";
import type { Tracing, TracingDeps } from "./tracing.js";

const exportTimeoutMs = 5_000;
/** What a receiver that does not answer may cost at the end. */
const lastExportMs = 1_000;

export function openOtlpTracing(
  { endpoint, serviceName, sampledShare }: TracingConfig,
  { log, now }: TracingDeps,
): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledShare) }),
    // It drops spans when the receiver is slower than they come: memory has a bound, requests never wait.
    spanProcessors: [
      new BatchSpanProcessor({ exporter: reporting(exporter, log), exportTimeoutMillis: exportTimeoutMs }),
    ],
  });
  const tracer = provider.getTracer("petstore");
  const storage = new AsyncLocalStorage<Context>();
  const within = spansWithin(tracer, storage);
  const stopListening = traceStatements(tracer, storage);

  return {
    traceRequests: traceRequests(tracer, storage, now),
    traced: (core) => withSpans(core, within),
    async [Symbol.asyncDispose]() {
      stopListening();
      const ended = provider.shutdown().catch((error: unknown) => log.warn({ error }, "the last traces were not sent"));
      await Promise.race([ended, sleep(lastExportMs, undefined, { ref: false })]);
    },
  };
}

/** The SDK tells failed exports to a global handler; here they are lines of the log like any other. */
function reporting(exporter: SpanExporter, log: Logger): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== 0) log.warn({ error: result.error }, "traces could not be sent");
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  };
}

/** W3C Trace Context: a `traceparent` that is malformed, or sent twice, is as good as none (section 3.2). */
function traceRequests(tracer: Tracer, storage: AsyncLocalStorage<Context>, now: () => number): RequestHandler {
  const propagator = new W3CTraceContextPropagator();
  return (req, res, next) => {
    const parent = propagator.extract(ROOT_CONTEXT, req.headers, defaultTextMapGetter);
    const context = contextOf(res);
    const waitedMs = now() - context.startedAtMs;
    const start = waitedMs > 0 ? { startTime: Date.now() - waitedMs } : {};
    const span = tracer.startSpan(req.method, { kind: SpanKind.SERVER, ...start }, parent);
    context.traceId = span.spanContext().traceId;
    res.on("close", () => {
      const { route, problem } = context;
      span.updateName(`${req.method} ${route}`);
      span.setAttributes({
        "http.request.method": req.method,
        "http.route": route,
        "http.response.status_code": res.statusCode,
        ...(problem !== undefined && { "error.type": problem }),
      });
      if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    storage.run(trace.setSpan(parent, span), next);
  };
}

function spansWithin(tracer: Tracer, storage: AsyncLocalStorage<Context>): Within {
  return async (name, call) => {
    const parent = storage.getStore();
    // What the service does for itself belongs to no request.
    if (parent === undefined) return call();
    const span = tracer.startSpan(name, {}, parent);
    try {
      return await storage.run(trace.setSpan(parent, span), call);
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  };
}

/** Each statement by its name: neither its text nor its values leave the process. */
function traceStatements(tracer: Tracer, storage: AsyncLocalStorage<Context>): () => void {
  const channel = tracingChannel<unknown, TracedQuery>("petstore:query");
  const spans = new WeakMap<object, Span>();
  const subscribers = {
    start(query: TracedQuery) {
      const parent = storage.getStore();
      if (parent === undefined) return;
      const attributes = { "db.system.name": "postgresql", "db.query.summary": query.statement };
      spans.set(query, tracer.startSpan(query.statement, { kind: SpanKind.CLIENT, attributes }, parent));
    },
    end() {},
    asyncStart() {},
    asyncEnd: (query: TracedQuery) => spans.get(query)?.end(),
    error(query: TracedQuery & { readonly error: unknown }) {
      const span = spans.get(query);
      if (span !== undefined) fail(span, query.error);
    },
  };
  channel.subscribe(subscribers);
  return () => void channel.unsubscribe(subscribers);
}

/** By its code alone: messages of a server can repeat what was sent. */
function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", Problem.from(error).code);
}
