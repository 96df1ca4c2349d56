import type { Core, Health } from "@petstore/core";
import type { RequestHandler, Response } from "express";
import type { Overload, OverloadReason } from "./overload.js";
import { jsonMediaType } from "./problem-response.js";

export interface HealthDeps {
  readonly core: Pick<Core, "health">;
  readonly overload: Pick<Overload, "reason">;
  /** Whether the service was told to stop. */
  readonly isDraining: () => boolean;
}

/**
 * For whoever runs the service, in front of everything else: no key, no quota, no log line. `/livez` touches nothing, so
 * that a dependency that is away never restarts the process; `/readyz` says 503 while requests cannot be served, or are
 * to go elsewhere, and names what is degraded while they can.
 */
export function answerHealth({ core, overload, isDraining }: HealthDeps): RequestHandler {
  return (req, res, next) => {
    if (req.method !== "GET" && req.method !== "HEAD") next();
    else if (req.url === "/livez") answer(res, 200, { status: "live" });
    else if (req.url !== "/readyz") next();
    else if (isDraining()) answer(res, 503, { status: "draining" });
    else answer(res, ...readiness(core.health(), overload.reason()));
  };
}

/** Overload is no reason to send requests elsewhere: the other instances would have the more of them. */
function readiness(health: Health, overload: OverloadReason | undefined): [status: number, body: object] {
  if (!health.isDatabaseReachable) return [503, { status: "not ready", missing: ["database"] }];
  const degraded = [
    ...(health.quotaMode === "standby" ? ["redis"] : []),
    ...(overload ? [`${overload} overload`] : []),
  ];
  return [200, degraded.length > 0 ? { status: "degraded", degraded } : { status: "ready" }];
}

function answer(res: Response, status: number, body: object): void {
  res.statusCode = status;
  res.setHeader("Content-Type", jsonMediaType);
  res.setHeader("Cache-Control", "no-store");
  res.end(JSON.stringify(body));
}
