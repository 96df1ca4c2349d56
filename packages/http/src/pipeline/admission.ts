/**
 * Authenticates and counts the requests to both APIs. A request without a valid key is counted by its address. It gets 401,
 * or 429 if the address is over its limit. A suspended account is counted like any other, so that a flood gets 429. If the
 * key can neither be checked nor found in the cache, the response is 503, and nothing is counted. An overloaded process
 * answers 503 before it checks the key.
 */
import {
  type Admitted,
  type Authentication,
  type Core,
  type Decision,
  type KeyWithAccount,
  type KeyWithLimits,
  Problem,
  type Quota,
  type Reservation,
  remaining,
  reportedWindow,
  retryAfterSeconds,
  type Windows,
} from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";
import type { Overload } from "../observability/overload.js";
import type { RequestMetrics } from "../observability/request-metrics.js";
import { addressBucket, bearerToken } from "../server/client-identity.js";
import { validateRequestMessage } from "../server/validate-request-message.js";
import { contextOf } from "./request-context.js";

export interface Admission {
  /** Authenticates a request that costs units, and reserves one unit, before the body is read. */
  readonly admit: RequestHandler;
  /** For a route that needs a key and costs nothing. */
  readonly authenticate: RequestHandler;
  /** Reserves `cost` units in place of the unit of `admit`. Throws if the quota refuses: the unit of `admit` then stays reserved. */
  extend(res: Response, cost: number): Promise<void>;
  /**
   * Call it after the body is read. It checks the key again if the body arrived after admission: a body can take 30 s, and
   * the key may have changed. Throws a problem with 401 or 403, or SERVICE_UNAVAILABLE if no record of the key can be read.
   */
  confirmKey(req: Request, res: Response): Promise<void>;
  /**
   * Checks the key again, like `confirmKey`, however the body arrived. Call it before work that may begin long after
   * admission. The cache has the record of a key that is in use, so this seldom waits for PostgreSQL.
   */
  checkKeyAgain(req: Request, res: Response): Promise<void>;
  /** Gives back the reserved units, and sets the rate-limit headers again. */
  refund(res: Response): Promise<void>;
  /** Refuses a malformed request, and counts it by its address. */
  readonly refuseMalformed: RequestHandler;
  reportAddressQuota(res: Response): Promise<void>;
}

export function createAdmission(core: Core, metrics: RequestMetrics, overload: Overload): Admission {
  const { authenticator, accountQuota, addressQuota, anonymousLimits } = core;

  async function identify(req: Request, res: Response): Promise<Authentication> {
    const token = bearerToken(req);
    if (token instanceof Problem) return { outcome: "rejected", problem: token };
    const address = addressBucket(contextOf(res).clientAddress);
    return authenticator.authenticate(token, address);
  }

  async function requireKey(req: Request, res: Response): Promise<KeyWithLimits> {
    const overloaded = overload.reason;
    if (overloaded !== undefined) {
      metrics.shed(overloaded);
      await reportAddressQuota(res);
      throw new Problem("SERVICE_UNAVAILABLE", overloadMessage, {
        cause: new Error(`${overloaded} overload`),
        retryAfterSeconds: 1,
      });
    }
    const authentication = await identify(req, res).catch(async (error: unknown) => {
      // The key may be valid or not, so neither its account nor the address is charged.
      await reportAddressQuota(res);
      throw error;
    });
    if (authentication.outcome === "rejected") return countAndReject(res, authentication.problem, authentication.key);
    const context = contextOf(res);
    context.key = authentication.key;
    context.isKeyStale = authentication.isStale;
    return authentication.key;
  }

  async function countAndReject(res: Response, problem: Problem, key?: KeyWithAccount): Promise<never> {
    contextOf(res).rejectedKey = key;
    await reserveUnits(res, addressQuota, anonymousReservation(res));
    throw problem;
  }

  function anonymousReservation(res: Response): Reservation {
    return { account: addressBucket(contextOf(res).clientAddress), limits: anonymousLimits, cost: 1 };
  }

  async function reportAddressQuota(res: Response): Promise<void> {
    reportQuota(res, await addressQuota.usage(anonymousReservation(res)));
  }

  /** Extends the admitted reservation `heldIn`. Without it, makes a new reservation. */
  async function reserveUnits(res: Response, quota: Quota, reservation: Reservation, heldIn?: Admitted): Promise<void> {
    const bucket = quota === accountQuota ? "account" : "address";
    let decision: Decision;
    try {
      decision = heldIn ? await quota.extend({ ...reservation, heldIn }) : await quota.reserve(reservation);
    } catch (error) {
      // Redis is unavailable and QUOTA_ON_REDIS_FAILURE is deny. `usage` returns the last known counts.
      metrics.decided(bucket, "fallback", "undecided");
      reportQuota(res, await quota.usage(reservation));
      throw error;
    }
    metrics.decided(bucket, decision.mode, decision.outcome);
    reportQuota(res, decision);
    if (decision.outcome !== "admitted") throw refusal(decision);
    contextOf(res).heldUnits = { quota, reservation, admitted: decision };
  }

  async function checkKeyAgain(req: Request, res: Response): Promise<void> {
    const authentication = await identify(req, res);
    if (authentication.outcome === "rejected") throw authentication.problem;
    refuseSuspended(authentication.key);
    const context = contextOf(res);
    context.key = authentication.key;
    context.isKeyStale = authentication.isStale;
  }

  return {
    async admit(req, res, next) {
      const key = await requireKey(req, res);
      const { accountId, lineage, limits } = key;
      // A rotated key keeps the lineage of its first key, so that a rotation does not end a ban.
      await reserveUnits(res, accountQuota, { account: `${accountId}`, key: `${lineage}`, limits, cost: 1 });
      refuseSuspended(key);
      contextOf(res).isBodyPending = !req.complete;
      next();
    },
    async authenticate(req, res, next) {
      await requireKey(req, res);
      next();
    },
    async extend(res, cost) {
      const { heldUnits } = contextOf(res);
      if (heldUnits === undefined) throw new Error("only an admitted request can be extended");
      const { quota, reservation, admitted } = heldUnits;
      // If it throws, the request still holds its first unit. A refusal is not refunded, so that the unit pays for reading,
      // parsing and validating the document. SERVICE_UNAVAILABLE is refunded.
      await reserveUnits(res, quota, { ...reservation, cost }, admitted);
    },
    async confirmKey(req, res) {
      if (contextOf(res).isBodyPending) await checkKeyAgain(req, res);
    },
    checkKeyAgain,
    async refund(res) {
      const context = contextOf(res);
      if (context.heldUnits === undefined) return;
      const { quota, reservation, admitted } = context.heldUnits;
      context.heldUnits = undefined;
      reportQuota(res, await quota.refund({ ...reservation, heldIn: admitted }));
    },
    refuseMalformed(req, res, next) {
      const problem = validateRequestMessage(req);
      if (problem === undefined) return next();
      contextOf(res).route = "malformed";
      return countAndReject(res, problem);
    },
    reportAddressQuota,
  };
}

/** Call it after `reportQuota`, so that the refusal has the rate-limit headers. */
export function refuseSuspended({ accountSuspendedAt }: KeyWithLimits): void {
  if (accountSuspendedAt !== undefined) throw new Problem("ACCOUNT_SUSPENDED");
}

/** `X-RateLimit-*` describe one window. `RateLimit` describes both (draft-ietf-httpapi-ratelimit-headers-10). */
export function reportQuota(res: Response, decision: Decision | Windows): void {
  const { minute, day, nowMs } = decision;
  const reported = reportedWindow(decision);
  const secondsUntil = (resetAtMs: number) => Math.ceil((resetAtMs - nowMs) / 1000);
  res.setHeader("X-RateLimit-Limit", `${reported.limit}`);
  res.setHeader("X-RateLimit-Remaining", `${remaining(reported)}`);
  res.setHeader("X-RateLimit-Reset", `${Math.ceil(reported.resetAtMs / 1000)}`);
  res.setHeader("RateLimit-Policy", `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`);
  res.setHeader(
    "RateLimit",
    `"minute";r=${remaining(minute)};t=${secondsUntil(minute.resetAtMs)}, ` +
      `"day";r=${remaining(day)};t=${secondsUntil(day.resetAtMs)}`,
  );
}

const overloadMessage = "There are more requests than can be answered in time; try again shortly.";

function refusal(decision: Exclude<Decision, Admitted>): Problem {
  if (decision.outcome === "impossible") return new Problem("OPERATION_TOO_LARGE");
  const refusedBy = { minute: "RATE_LIMIT_EXCEEDED", day: "DAILY_QUOTA_EXCEEDED" } as const;
  const code = decision.outcome === "banned" ? "API_KEY_BANNED" : refusedBy[decision.by];
  return new Problem(code, undefined, { retryAfterSeconds: retryAfterSeconds(decision) });
}
