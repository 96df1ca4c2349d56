import { type HttpConfig, Problem } from "@petstore/core";
import express, { type Express, type RequestHandler, type Router } from "express";
import type { Logger } from "pino";
import { answerHealth, type HealthDeps } from "../observability/health.js";
import { logRequests } from "../observability/log.js";
import type { RequestMeter } from "../observability/request-meter.js";
import type { Tracing } from "../observability/tracing.js";
import type { Admission } from "./admission.js";
import { answerPreflight, exposeToAnyOrigin } from "./cors.js";
import { answerProblems, errorShape } from "./problem-response.js";
import { beginRequest } from "./request-context.js";

export interface AppDeps extends HealthDeps {
  readonly admission: Admission;
  readonly config: Pick<HttpConfig, "trustedProxies">;
  readonly log: Logger;
  readonly meter: Pick<RequestMeter, "count">;
  /** Absent where requests are not traced. */
  readonly tracing: Pick<Tracing, "traceRequests"> | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** One for each API. */
  readonly routers: readonly Router[];
}

/** One Express application with any number of APIs. What no API knows still takes the way of every request. */
export function createApp(deps: AppDeps): Express {
  const { admission, config, log, meter, tracing, now, routers } = deps;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("trust proxy", config.trustedProxies.length > 0 && [...config.trustedProxies]);
  app.use(answerHealth(deps, "status"));
  app.use(beginRequest(now), logRequests(log, meter, now));
  if (tracing !== undefined) app.use(tracing.traceRequests);
  app.use(exposeToAnyOrigin, admission.refuseMalformed);
  app.use(answerPreflight(admission), ...routers);
  app.use(admission.admit, routeNotFound, answerProblems(log, errorShape));
  return app;
}

export const routeNotFound: RequestHandler = () => {
  throw new Problem("ROUTE_NOT_FOUND");
};
