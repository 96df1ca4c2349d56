import { type Core, type HttpConfig, Problem } from "@petstore/core";
import express, { type Express, type RequestHandler, type Router } from "express";
import type { Logger } from "pino";
import type { Admission } from "./admission.js";
import { answerPreflight, exposeToAnyOrigin } from "./cors.js";
import { beginExchange } from "./exchange.js";
import { answerHealth } from "./health.js";
import { logRequests } from "./log.js";
import { answerProblems, errorShape } from "./problem-response.js";

export interface AppDeps {
  readonly core: Pick<Core, "health">;
  readonly admission: Admission;
  readonly config: Pick<HttpConfig, "trustedProxies">;
  readonly log: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** One for each door. */
  readonly routers: readonly Router[];
}

/** One Express application with any number of doors. What no door knows still takes the way of every request. */
export function createApp({ core, admission, config, log, now, routers }: AppDeps): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("trust proxy", config.trustedProxies.length > 0 && [...config.trustedProxies]);
  app.use(answerHealth(core));
  app.use(beginExchange(now), logRequests(log, now), exposeToAnyOrigin, admission.refuseMalformed);
  app.use(answerPreflight(admission), ...routers);
  app.use(admission.admit(), routeNotFound, answerProblems(log, errorShape));
  return app;
}

export const routeNotFound: RequestHandler = () => {
  throw new Problem("ROUTE_NOT_FOUND");
};
