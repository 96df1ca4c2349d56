import { parse } from "node:querystring";
import { type HttpConfig, type Log, Problem } from "@petstore/core";
import express, { type Express, type Request, type RequestHandler, type Response, type Router } from "express";
import type { RequestMetrics } from "../observability/request-metrics.js";
import type { Tracing } from "../observability/tracing.js";
import { trustProxies } from "../server/client-identity.js";
import type { Admission } from "./admission.js";
import { answerPreflight, exposeToAnyOrigin } from "./cors.js";
import { answerProbes, type ProbeDeps } from "./probes.js";
import { answerProblems } from "./problem-response.js";
import { contextOf, createRequestContext, type RequestContext } from "./request-context.js";

export interface AppDeps extends ProbeDeps {
  readonly admission: Admission;
  readonly config: Pick<HttpConfig, "trustedProxies">;
  readonly log: Log;
  readonly metrics: Pick<RequestMetrics, "started" | "ended">;
  readonly tracing: Pick<Tracing, "traceRequest"> | undefined;
  /** Milliseconds. */
  readonly monotonicNow: () => number;
  readonly routers: readonly Router[];
  readonly serveNotFoundPage: RequestHandler;
}

/** An unknown path needs a key and costs one unit. Outside the APIs, a browser without a key gets a page instead. */
export function createApp(deps: AppDeps): Express {
  const { admission, config, tracing, routers, serveNotFoundPage } = deps;
  const app = express();
  app.disable("x-powered-by");
  // Without `maxKeys: 0` the parser ignores all parameters after the thousandth.
  app.set("query parser", (text: string | null) => parse(text ?? "", "&", "=", { maxKeys: 0 }));
  trustProxies(app, config.trustedProxies);
  app.use(startResponse);
  // Before `recordRequest`, so that probes are neither logged nor measured.
  app.use(answerProbes(deps));
  app.use(recordRequest(deps));
  if (tracing !== undefined) app.use(tracing.traceRequest);
  app.use(admission.refuseMalformed);
  app.options(/.*/, answerPreflight(admission));
  app.use(...routers);
  // The routers call admission for their own paths. This call is for unknown paths.
  app.use(serveNotFoundPage, admission.admit, routeNotFound, answerProblems(deps));
  return app;
}

const routeNotFound: RequestHandler = () => {
  throw new Problem("ROUTE_NOT_FOUND");
};

/** Creates the request context, and sets the headers that all responses have. */
const startResponse: RequestHandler = (req, res, next) => {
  const context = createRequestContext(req);
  res.locals.context = context;
  res.setHeader("X-Request-Id", context.id);
  res.setHeader("Cache-Control", "no-store");
  res.setHeader("X-Content-Type-Options", "nosniff");
  if (req.headers.origin !== undefined) exposeToAnyOrigin(res);
  next();
};

function recordRequest({ log, metrics, monotonicNow }: AppDeps): RequestHandler {
  return (req, res, next) => {
    const startedAtMs = monotonicNow();
    const context = contextOf(res);
    metrics.started(req.method, context.scheme);
    res.on("close", () => {
      const durationMs = monotonicNow() - startedAtMs;
      // 499 is nginx's status for a client that closed the connection before a response.
      const status = res.headersSent ? res.statusCode : 499;
      metrics.ended(context, req.method, status, durationMs);
      log.info(logFields(req, res, context, status, durationMs), "request completed");
    });
    next();
  };
}

function logFields(req: Request, res: Response, context: RequestContext, status: number, durationMs: number): object {
  const { id, traceId, clientAddress, route, operation, problemCode } = context;
  const key = context.key ?? context.rejectedKey;
  return {
    requestId: id,
    traceId,
    clientAddress,
    method: req.method,
    route,
    status,
    // Rounded to microseconds.
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    operationType: operation?.type,
    operationName: operation?.name,
    cost: operation?.cost,
    account: key && `${key.accountId}`,
    key: key && `${key.id}`,
    code: problemCode,
    aborted: res.writableFinished ? undefined : true,
  };
}
