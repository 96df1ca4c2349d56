import type { Core } from "@petstore/core";
import type { RequestHandler, Response } from "express";
import { jsonMediaType } from "./problem-response.js";

/**
 * For whoever runs the service, in front of everything else: no key, no quota, no log line. `/livez` touches nothing, so
 * that a dependency that is away never restarts the process; `/readyz` says 503 while requests cannot be served, and
 * names what is degraded while they can.
 */
export function answerHealth(core: Pick<Core, "health">): RequestHandler {
  return (req, res, next) => {
    if (req.method !== "GET" && req.method !== "HEAD") next();
    else if (req.url === "/livez") answer(res, 200, { status: "live" });
    else if (req.url === "/readyz") answer(res, ...readiness(core.health()));
    else next();
  };
}

function readiness({ isDatabaseReachable, quotaMode }: ReturnType<Core["health"]>): [status: number, body: object] {
  if (!isDatabaseReachable) return [503, { status: "not ready", missing: ["database"] }];
  if (quotaMode === "standby") return [200, { status: "degraded", degraded: ["redis"] }];
  return [200, { status: "ready" }];
}

function answer(res: Response, status: number, body: object): void {
  res.statusCode = status;
  res.setHeader("Content-Type", jsonMediaType);
  res.setHeader("Cache-Control", "no-store");
  res.end(JSON.stringify(body));
}
