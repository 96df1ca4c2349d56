import { type Core, type KeyWithLimits, remaining, type Usage, type WindowState } from "@petstore/core";
import { type RequestHandler, Router } from "express";
import { LRUCache } from "lru-cache";
import { type Admission, refuseSuspended, reportQuota } from "./admission.js";
import { acceptsJson, sendJson } from "./json-response.js";
import { methodNotAllowed } from "./problem-response.js";
import { admittedKeyOf, onRoute } from "./request-context.js";

export interface RateLimitStatusDeps {
  readonly admission: Pick<Admission, "authenticate">;
  readonly core: Pick<Core, "accountQuota">;
  /** Milliseconds of a monotonic clock. */
  readonly monotonicNow: () => number;
}

/** How long an answer is repeated from memory: a client that polls must not cost Redis a call each time. */
const repeatedForMs = 1_000;
const maxKeys = 10_000;

/**
 * `GET /rate_limit`, as GitHub has it: what the account of the key has left in both windows, its plan, and the ban of the key.
 * It needs a key and costs nothing. For each key the quota is read at most once a second.
 */
export function createRateLimitStatus({ admission, core, monotonicNow }: RateLimitStatusDeps): Router {
  const reads = new LRUCache<bigint, Promise<Usage>>({
    max: maxKeys,
    ttl: repeatedForMs,
    ttlResolution: 0,
    perf: { now: monotonicNow },
  });

  function usageOf({ id, accountId, lineage, limits }: KeyWithLimits): Promise<Usage> {
    const recent = reads.get(id);
    if (recent !== undefined) return recent;
    const read = core.accountQuota.usage({ account: `${accountId}`, key: `${lineage}`, limits });
    reads.set(id, read);
    return read;
  }

  /** Before the method and the media type are checked, so that these refusals report the quota too. */
  const reportUsage: RequestHandler = async (_req, res, next) => {
    const key = admittedKeyOf(res);
    reportQuota(res, await usageOf(key));
    refuseSuspended(key);
    next();
  };

  const answer: RequestHandler = async (_req, res) => {
    const key = admittedKeyOf(res);
    const { minute, day, bannedUntilMs } = await usageOf(key);
    const bannedUntil = bannedUntilMs === undefined ? null : Math.ceil(bannedUntilMs / 1000);
    sendJson(res, 200, JSON.stringify({ plan: key.plan, minute: shown(minute), day: shown(day), bannedUntil }));
  };

  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/rate_limit")
    .all(onRoute("/rate_limit"), admission.authenticate, reportUsage)
    .get(acceptsJson, answer)
    .all(methodNotAllowed("GET", "HEAD"));
  return router;
}

/** The names of GitHub's `GET /rate_limit`; `reset` in epoch seconds, as in X-RateLimit-Reset. */
function shown(window: WindowState): object {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), reset: Math.ceil(resetAtMs / 1000) };
}
