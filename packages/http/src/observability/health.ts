import type { IncomingMessage, ServerResponse } from "node:http";
import type { Core, Health } from "@petstore/core";
import { jsonMediaType } from "../pipeline/json-response.js";
import type { Overload, OverloadReason } from "./overload.js";

export interface HealthDeps {
  readonly core: Pick<Core, "health">;
  readonly overload: Pick<Overload, "reason">;
  readonly isDraining: () => boolean;
}

type Handler = (req: IncomingMessage, res: ServerResponse, next: () => void) => void;

type HealthReport = { readonly status: string; readonly [causes: string]: unknown };

export function isProbe({ method, url }: IncomingMessage): boolean {
  return (method === "GET" || method === "HEAD") && (url === "/livez" || url === "/readyz");
}

/**
 * Clients see the status. Operators see the causes too, on the metrics port. `/livez` checks nothing, so that an unavailable
 * dependency never restarts the process.
 */
export function answerHealth({ core, overload, isDraining }: HealthDeps, detail: "status" | "causes"): Handler {
  function answer(res: ServerResponse, status: number, report: HealthReport): void {
    res.statusCode = status;
    res.setHeader("Content-Type", jsonMediaType);
    res.setHeader("Cache-Control", "no-store");
    res.end(JSON.stringify(detail === "causes" ? report : { status: report.status }));
  }

  return (req, res, next) => {
    if (!isProbe(req)) next();
    else if (req.url === "/livez") answer(res, 200, { status: "live" });
    else if (isDraining()) answer(res, 503, { status: "draining" });
    else answer(res, ...readiness(core.health(), overload.reason));
  };
}

/** An overloaded instance stays ready: its removal would only move its load to the others. */
function readiness(health: Health, overload: OverloadReason | undefined): [status: number, report: HealthReport] {
  if (!health.isDatabaseReachable) return [503, { status: "not ready", missing: ["database"] }];
  const degraded = [
    ...(health.quotaMode === "fallback" ? ["redis"] : []),
    ...(overload ? [`${overload} overload`] : []),
  ];
  return [200, degraded.length > 0 ? { status: "degraded", degraded } : { status: "ready" }];
}
