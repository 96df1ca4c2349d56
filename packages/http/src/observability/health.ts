import type { Health } from "@petstore/core";
import type { Overload, OverloadReason } from "./overload.js";

interface HealthReport {
  readonly status: string;
  /** For operators. Clients see only the status. */
  readonly [causes: string]: unknown;
}

/** The status code and the report of a probe. `undefined` if the request is not a probe. */
export type CheckHealth = (method: string, url: string) => readonly [status: number, report: HealthReport] | undefined;

/** `/livez` checks nothing, so that an unavailable dependency never restarts the process. */
export function createHealthCheck(
  coreHealth: () => Health,
  overload: Pick<Overload, "reason">,
  isDraining: () => boolean,
): CheckHealth {
  return (method, url) => {
    if (method !== "GET" && method !== "HEAD") return undefined;
    if (url === "/livez") return [200, { status: "live" }];
    if (url !== "/readyz") return undefined;
    return isDraining() ? [503, { status: "draining" }] : readiness(coreHealth(), overload.reason);
  };
}

/**
 * An overloaded instance stays ready: its removal would only move its load to the others. So does an instance of an older release
 * than the schema: it works beside newer ones, because migrations only add.
 */
function readiness(health: Health, overload: OverloadReason | undefined): [status: number, report: HealthReport] {
  if (!health.isDatabaseReachable) return [503, { status: "not ready", missing: ["database"] }];
  const degraded = [...unavailableRedis(health), ...(overload ? [`${overload} overload`] : [])];
  const { unknownMigrations } = health;
  const schema = unknownMigrations.length > 0 ? { unknownMigrations } : {};
  return [200, degraded.length > 0 ? { status: "degraded", degraded, ...schema } : { status: "ready", ...schema }];
}

/** In a Redis Cluster, the shards that are unavailable. */
function unavailableRedis({ quotaMode, lostShards }: Health): string[] {
  if (quotaMode !== "fallback") return [];
  return lostShards.length > 0 ? lostShards.map((shard) => `redis shard ${shard}`) : ["redis"];
}
