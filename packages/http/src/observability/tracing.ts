/**
 * Traces over OTLP/HTTP: a span for each request, for the calls that `traceCall` publishes, and for each statement. A
 * name or an attribute is a route template, a code or the name of a statement, never text of a client.
 *
 * OpenTelemetry's own instrumentations are not used: instrumentation-http records path, query and User-Agent, which can hold
 * a key; instrumentation-pg records SQL; instrumentation-express patches nothing in an ES module without a loader hook.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
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
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { Problem, type TracingConfig, tracedCalls } from "@petstore/core";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import { contextOf } from "../pipeline/request-context.js";

/** Disposing sends the last spans. */
export interface Tracing extends AsyncDisposable {
  /** Opens the span of a request, a child of the caller's span if `traceparent` names one. */
  readonly traceRequest: RequestHandler;
}

/** Holds the context of the request that the current code runs for. */
type RequestStorage = AsyncLocalStorage<Context | undefined>;

const exportTimeoutMs = 5_000;
/** How long a silent receiver delays the end of the process. */
const lastExportMs = 1_000;

export function openTracing({ endpoint, serviceName, sampledShare }: TracingConfig, log: Logger): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, "")}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ "service.name": serviceName }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampledShare) }),
    // It drops spans when the receiver is too slow: memory is bounded, and requests never wait.
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: exportTimeoutMs })],
  });
  const reportFailure = (error: unknown) => log.warn({ error }, "traces could not be sent");
  setGlobalErrorHandler(reportFailure);
  const tracer = provider.getTracer("petstore");
  // Not OpenTelemetry's global context: one process can hold several services.
  const storage: RequestStorage = new AsyncLocalStorage();
  const stop = traceCalls(tracer, storage);
  return {
    traceRequest: traceRequests(tracer, storage),
    async [Symbol.asyncDispose]() {
      stop();
      await Promise.race([provider.shutdown().catch(reportFailure), sleep(lastExportMs, undefined, { ref: false })]);
    },
  };
}

/** W3C Trace Context: a malformed or repeated `traceparent` is ignored (section 3.2). */
function traceRequests(tracer: Tracer, storage: RequestStorage): RequestHandler {
  const propagator = new W3CTraceContextPropagator();
  return (req, res, next) => {
    const parent = propagator.extract(ROOT_CONTEXT, req.headers, defaultTextMapGetter);
    const context = contextOf(res);
    const span = tracer.startSpan(req.method, { kind: SpanKind.SERVER }, parent);
    context.traceId = span.spanContext().traceId;
    res.on("close", () => {
      const { route, problemCode } = context;
      span.updateName(`${req.method} ${route}`);
      span.setAttributes({
        "http.request.method": req.method,
        "http.route": route,
        "http.response.status_code": res.statusCode,
        ...(problemCode !== undefined && { "error.type": problemCode }),
      });
      if (res.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    storage.run(trace.setSpan(parent, span), next);
  };
}

/** Opens a span for each call of a traced request. A call of the service for itself has no parent, and no span. */
function traceCalls(tracer: Tracer, storage: RequestStorage): () => void {
  // `tracePromise` runs the call, and the listeners of its end, with the context that this function returns.
  tracedCalls.start.bindStore(storage, ({ name, isStatement }) => {
    const parent = storage.getStore();
    if (parent === undefined) return undefined;
    const statement = { "db.system.name": "postgresql", "db.query.summary": name };
    const options = isStatement ? { kind: SpanKind.CLIENT, attributes: statement } : {};
    return trace.setSpan(parent, tracer.startSpan(name, options, parent));
  });
  const currentSpan = () => trace.getSpan(storage.getStore() ?? ROOT_CONTEXT);
  const listeners = {
    start() {},
    end() {},
    asyncStart() {},
    asyncEnd: () => currentSpan()?.end(),
    error({ error }: { readonly error: unknown }) {
      const span = currentSpan();
      span?.setStatus({ code: SpanStatusCode.ERROR });
      // The message of a server can repeat text of a client, so only the code is shown.
      span?.setAttribute("error.type", Problem.from(error).code);
    },
  };
  tracedCalls.subscribe(listeners);
  return () => {
    tracedCalls.start.unbindStore(storage);
    tracedCalls.unsubscribe(listeners);
  };
}
