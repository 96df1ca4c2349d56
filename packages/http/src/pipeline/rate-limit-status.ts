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
    // The option `max` would allocate the memory for all entries at once.
    maxSize: maxKeys,
    sizeCalculation: () => 1,
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

  const refuseMethod = methodNotAllowed("GET", "HEAD");

  /** Checks the method and the media type after it has set the headers, which every refusal has too. */
  const answer: RequestHandler = async (req, res, next) => {
    const key = admittedKeyOf(res);
    const usage = await usageOf(key);
    reportQuota(res, usage);
    refuseSuspended(key);
    if (req.method !== "GET" && req.method !== "HEAD") return refuseMethod(req, res, next);
    return acceptsJson(req, res, () => {
      const { minute, day, bannedUntilMs } = usage;
      const bannedUntil = bannedUntilMs === undefined ? null : Math.ceil(bannedUntilMs / 1000);
      sendJson(res, 200, JSON.stringify({ plan: key.plan, minute: shown(minute), day: shown(day), bannedUntil }));
    });
  };

  const router = Router({ caseSensitive: true, strict: true });
  router.all("/rate_limit", onRoute("/rate_limit"), admission.authenticate, answer);
  return router;
}

/** The names of GitHub's `GET /rate_limit`; `reset` in epoch seconds, as in X-RateLimit-Reset. */
function shown(window: WindowState): object {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), reset: Math.ceil(resetAtMs / 1000) };
}
