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
import { containsKey, copyText, databaseCalls, type Log, Problem, type TracingConfig } from "@petstore/core";
import type { CompletedRequest } from "./completed-request.js";
import { readVersion } from "./open-log.js";

export interface Tracing extends AsyncDisposable {
  /**
   * Opens the span of a request. Its parent is the span in `traceparent`, if any, so the traces of a client and of this
   * service connect. A client cannot decide that its request is traced.
   */
  startSpan(request: TracedRequest): RequestSpan;
}

interface TracedRequest extends Pick<CompletedRequest, "method" | "scheme" | "clientAddress"> {
  /** Without the query. */
  readonly path: string;
  readonly userAgent: string | undefined;
  /** The header, if it is valid. */
  readonly traceparent: string | undefined;
}

export interface RequestSpan {
  readonly traceId: string;
  /** The database calls of `work` get spans below this one. */
  run(work: () => void): void;
  end(request: CompletedRequest): void;
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
    startSpan: (request) => startSpan(tracer, storage, request),
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

function startSpan(tracer: Tracer, storage: SpanStorage, request: TracedRequest): RequestSpan {
  // Omits `tracestate`, which can hold any text of a client, also an API key. Every span would repeat it.
  const { method, path, scheme, clientAddress, userAgent, traceparent } = request;
  // A later version than 00 may have more parts, which are ignored.
  const header = { traceparent: traceparent && copyText(traceparent.slice(0, traceparentLength)) };
  const parent = propagator.extract(ROOT_CONTEXT, header, defaultTextMapGetter);
  const attributes = {
    "http.request.method": method,
    "url.path": safeText(path),
    "url.scheme": scheme,
    ...(clientAddress !== undefined && { "client.address": clientAddress }),
    ...(userAgent && { "user_agent.original": safeText(userAgent) }),
  };
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  return {
    traceId: span.spanContext().traceId,
    run: (work) => storage.run(span, work),
    end({ route, status, operation, problemCode }) {
      span.updateName(`${method} ${route}`);
      span.setAttributes({
        "http.route": route,
        ...(status !== undefined && { "http.response.status_code": status }),
        ...(operation !== undefined && { "graphql.operation.type": operation.type }),
        ...(operation?.name !== undefined && { "graphql.operation.name": operation.name }),
        ...(problemCode !== undefined && { "error.type": problemCode }),
      });
      if (status !== undefined && status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

const propagator = new W3CTraceContextPropagator();

/** The length of version 00 (Trace Context, section 3.2.2). */
const traceparentLength = 55;
const maxTextLength = 256;

/** Returns a copy of at most 256 characters, or `[redacted]` if the text contains an API key, also a percent-encoded one. */
function safeText(text: string): string {
  const decoded = text.replace(/%([0-7][\da-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return containsKey(decoded) ? "[redacted]" : copyText(text.slice(0, maxTextLength));
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
