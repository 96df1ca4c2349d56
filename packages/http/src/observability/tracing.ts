/**
 * Sends traces over OTLP/HTTP: a span for each request, and for each call of PostgreSQL and Redis. OpenTelemetry's semantic
 * conventions define names and attributes. The query string is omitted, because it can hold a whole GraphQL request.
 *
 * OpenTelemetry's own instrumentations are not used. instrumentation-http records path, query and User-Agent unchanged.
 * instrumentation-pg records SQL. instrumentation-express patches nothing in an ES module without a loader hook.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { containsKey, databaseCalls, type Log, Problem, type TracingConfig } from "@petstore/core";
import type { RequestHandler } from "express";
import { contextOf } from "../pipeline/request-context.js";
import { readVersion } from "./open-log.js";

export interface Tracing extends AsyncDisposable {
  /**
   * Opens the span of a request. Its parent is the span in `traceparent`, if any, so the traces of a client and of this
   * service connect. A client cannot decide that its request is traced.
   */
  readonly traceRequest: RequestHandler;
}

/** Holds the span of the request, or of its database call. */
type SpanStorage = AsyncLocalStorage<Span | undefined>;

const exportTimeoutMs = 5_000;
/** A silent receiver delays the end of the process for this time. */
const lastExportMs = 1_000;

export function openTracing(config: TracingConfig, log: Log): Tracing {
  const { endpoint, headers = {}, serviceName, sampledShare } = config;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    headers,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName, "service.version": readVersion() }),
    sampler: new ParentBasedSampler({
      root: sampleShare(sampledShare),
      remoteParentSampled: sampleShare(sampledShare),
    }),
    // Drops spans if the receiver is slow: memory is bounded, and requests never wait.
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: exportTimeoutMs })],
  });
  const reportFailure = (error: unknown) => log.warn({ error }, "traces could not be sent");
  setGlobalErrorHandler(reportFailure);
  const tracer = provider.getTracer("petstore");
  // Not OpenTelemetry's global context: one process can hold several services.
  const storage: SpanStorage = new AsyncLocalStorage();
  const stop = traceDatabaseCalls(tracer, storage);
  return {
    traceRequest: traceRequests(tracer, storage),
    async [Symbol.asyncDispose]() {
      stop();
      const timeout = sleep(lastExportMs, undefined, { ref: false }).then(() => {
        throw new Error(`no reply within ${lastExportMs} ms`);
      });
      await Promise.race([provider.shutdown(), timeout]).catch(reportFailure);
    },
  };
}

/** Not TraceIdRatioBasedSampler, which decides by the trace id: a client could send an id that is always sampled. */
function sampleShare(share: number): Sampler {
  return {
    shouldSample: () => ({
      decision: Math.random() < share ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    }),
    toString: () => `sampleShare(${share})`,
  };
}

function traceRequests(tracer: Tracer, storage: SpanStorage): RequestHandler {
  const propagator = new W3CTraceContextPropagator();
  return (req, res, next) => {
    const context = contextOf(res);
    // `traceId` is set only for a valid header. The propagator also accepts some repeated headers.
    const traceparent = context.traceId && req.headers.traceparent;
    // Omits `tracestate`, which can hold any text of a client, also an API key. Every span would repeat it.
    const parent = propagator.extract(ROOT_CONTEXT, { traceparent }, defaultTextMapGetter);
    const { scheme, clientAddress } = context;
    const attributes = {
      "http.request.method": req.method,
      "url.path": safeText(req.url.split("?", 1)[0] ?? ""),
      "url.scheme": scheme,
      ...(clientAddress !== undefined && { "client.address": clientAddress }),
      ...(req.headers["user-agent"] && { "user_agent.original": safeText(req.headers["user-agent"]) }),
    };
    const span = tracer.startSpan(req.method, { kind: SpanKind.SERVER, attributes }, parent);
    context.traceId = span.spanContext().traceId;
    res.on("close", () => {
      const { route, operation, problemCode } = context;
      span.updateName(`${req.method} ${route}`);
      span.setAttributes({
        "http.route": route,
        // No status if the client closed the connection before a response.
        ...(res.headersSent && { "http.response.status_code": res.statusCode }),
        ...(operation !== undefined && { "graphql.operation.type": operation.type }),
        ...(operation?.name !== undefined && { "graphql.operation.name": operation.name }),
        ...(problemCode !== undefined && { "error.type": problemCode }),
      });
      if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    storage.run(span, next);
  };
}

const maxTextLength = 256;

/** Returns at most 256 characters, or `[redacted]` if the text contains an API key, also a percent-encoded one. */
function safeText(text: string): string {
  const decoded = text.replace(/%([0-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return containsKey(decoded) ? "[redacted]" : text.slice(0, maxTextLength);
}

/** Opens a span for each database call of a traced request. A call of the service itself has no span. */
function traceDatabaseCalls(tracer: Tracer, storage: SpanStorage): () => void {
  // `tracePromise` runs the call, and the listeners of its end, with the span that this function returns.
  databaseCalls.start.bindStore(storage, ({ system, name }) => {
    const parent = storage.getStore();
    // A timer that a request has started, such as a probe of Redis, can run after the end of the request.
    if (!parent?.isRecording()) return undefined;
    const attributes = { "db.system.name": system, "db.query.summary": name };
    const context = trace.setSpan(ROOT_CONTEXT, parent);
    return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context);
  });
  const listeners = {
    start() {},
    end() {},
    asyncStart() {},
    asyncEnd: () => storage.getStore()?.end(),
    error({ error }: { readonly error: unknown }) {
      const span = storage.getStore();
      span?.setStatus({ code: SpanStatusCode.ERROR });
      // Not the message: a database can repeat text of a client.
      const name = error instanceof Error ? error.name : "_OTHER";
      span?.setAttribute("error.type", error instanceof Problem ? error.code : name);
    },
  };
  databaseCalls.subscribe(listeners);
  return () => {
    databaseCalls.start.unbindStore(storage);
    databaseCalls.unsubscribe(listeners);
  };
}
