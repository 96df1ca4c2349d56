import { type Core, type KeyWithLimits, remaining, type Usage, type WindowState } from "@petstore/core";
import { type RequestHandler, Router } from "express";
import { LRUCache } from "lru-cache";
import { type Admission, refuseSuspended, reportQuota } from "./admission.js";
import { acceptsJson, sendJson } from "./json-response.js";
import { methodNotAllowed } from "./problem-response.js";
import { admittedKeyOf, onRoute } from "./request-context.js";

/** A client that polls causes at most one call to Redis in this time. */
const cachedForMs = 1_000;
const maxKeys = 10_000;

/** `GET /rate_limit` needs a key and costs nothing. `monotonicNow` is in milliseconds. */
export function createRateLimitStatus(admission: Admission, core: Core, monotonicNow: () => number): Router {
  // A changed key or account has a new record, so its quota is read again.
  const reads = new LRUCache<KeyWithLimits, Promise<Usage>>({
    max: maxKeys,
    ttl: cachedForMs,
    ttlResolution: 0,
    perf: { now: monotonicNow },
    memoMethod: ({ accountId, lineage, limits }) =>
      core.accountQuota.usage({ account: `${accountId}`, key: `${lineage}`, limits }),
  });

  const answer: RequestHandler = async (req, res, next) => {
    const key = admittedKeyOf(res);
    const usage = await reads.memo(key);
    // Before the method and the media type are checked, so that their refusals report the quota too.
    reportQuota(res, usage);
    refuseSuspended(key);
    if (req.method !== "GET" && req.method !== "HEAD") return next();
    acceptsJson(req, res, () => sendJson(res, 200, bodyOf(key, usage)));
  };

  const router = Router({ caseSensitive: true, strict: true });
  router
    .route("/rate_limit")
    .all(onRoute("/rate_limit"), admission.authenticate, answer)
    .all(methodNotAllowed("GET", "HEAD"));
  return router;
}

function bodyOf({ plan }: KeyWithLimits, { minute, day, bannedUntilMs }: Usage): string {
  const bannedUntil = bannedUntilMs === undefined ? null : Math.ceil(bannedUntilMs / 1000);
  return JSON.stringify({ plan, minute: shown(minute), day: shown(day), bannedUntil });
}

/** The names of GitHub's `GET /rate_limit`; `reset` in epoch seconds, as in X-RateLimit-Reset. */
function shown(window: WindowState): object {
  const { limit, used, resetAtMs } = window;
  return { limit, used, remaining: remaining(window), reset: Math.ceil(resetAtMs / 1000) };
}
