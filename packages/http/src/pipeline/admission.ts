/**
 * The one way into both APIs: authenticate, then reserve, then report the quota on every response. A request without a
 * valid key is counted against its address instead, with the same headers, and is refused with 429 beyond its limit. A key
 * that can neither be checked nor found in the cache is answered 503, and nothing is counted.
 */
import {
  type Authentication,
  type Core,
  type Decision,
  limitsOf,
  Problem,
  type Quota,
  type Reservation,
  retryAfterSeconds,
} from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";
import type { AdmissionMeter } from "../observability/admission-meter.js";
import type { Overload, OverloadReason } from "../server/overload.js";
import { validateRequestMessage } from "../server/validate-request-message.js";
import { addressBucket } from "./client-address.js";
import { bearerToken } from "./credentials.js";
import { rateLimitHeaders } from "./rate-limit-headers.js";
import { contextOf, type Spent } from "./request-context.js";

export interface AdmissionDeps {
  readonly core: Pick<Core, "authenticator" | "accountQuota" | "addressQuota" | "anonymousLimits">;
  readonly meter: Pick<AdmissionMeter, "decided" | "shed">;
  readonly overload: Pick<Overload, "reason">;
}

export interface Admission {
  /**
   * Stands in front of everything that needs a key. Authenticates the request and reserves one unit, before the body is
   * read: a caller who is refused costs no more than that.
   */
  readonly admit: RequestHandler;
  /**
   * Extends the unit that `admit` reserved to `cost` units, before any work is done. If they are not available, nothing
   * stays reserved, and the refusal is thrown.
   */
  extend(res: Response, cost: number): Promise<void>;
  /**
   * Checks the key again if the body arrived after admission: a slow body takes up to 30 s, and the key may have been
   * revoked meanwhile. Called after the body is read. Throws the 401.
   */
  confirmKey(req: Request, res: Response): Promise<void>;
  /** Refuses a request that HTTP/1.1 forbids, and counts it against its address. Stands in front of every route. */
  readonly refuseMalformed: RequestHandler;
  /** Reports the address's quota on answers that cost nothing. */
  reportAddressQuota(res: Response): Promise<void>;
  /** Counts what failed before it became a request, against its address; the problem may become a 429. */
  countMalformedRequest(
    problem: Problem,
    address: string | undefined,
  ): Promise<{ decision: Decision; problem: Problem }>;
}

export function createAdmission({ core, meter, overload }: AdmissionDeps): Admission {
  const { authenticator, accountQuota, addressQuota, anonymousLimits } = core;

  async function authenticate(req: Request, res: Response): Promise<Authentication> {
    const token = bearerToken(req);
    if (token instanceof Problem) return { outcome: "rejected", problem: token };
    try {
      return await authenticator.authenticate(token, addressBucket(contextOf(res).clientAddress));
    } catch (error) {
      // Nobody knows whether the key is valid, so neither its account nor the address is charged.
      await reportAddress(res);
      throw error;
    }
  }

  /** Counts a request without a valid key against its address. Throws why it is refused. */
  async function reject(res: Response, { problem, key }: Rejected): Promise<never> {
    if (key !== undefined) contextOf(res).rejectedKey = key;
    await reserve(res, addressQuota, anonymousReservation(contextOf(res).clientAddress));
    throw problem;
  }

  function anonymousReservation(address: string | undefined): Reservation {
    return { account: addressBucket(address), limits: anonymousLimits, cost: 1 };
  }

  async function reportAddress(res: Response): Promise<void> {
    const { account, limits } = anonymousReservation(contextOf(res).clientAddress);
    report(res, await addressQuota.usage({ account, limits }));
  }

  /** Asks the quota for a decision about a request, counts it and reports it. Throws the refusal. */
  async function decide(
    res: Response,
    { quota, reservation }: Omit<Spent, "admitted">,
    ask: () => Promise<Decision>,
  ): Promise<void> {
    const bucket = quota === accountQuota ? "account" : "address";
    let decision: Decision;
    try {
      decision = await ask();
    } catch (error) {
      // Redis is unavailable and QUOTA_ON_REDIS_FAILURE is deny. The quota still knows the last usage it saw.
      meter.decided(bucket, "fallback", "undecided");
      report(res, await quota.usage(reservation));
      throw error;
    }
    meter.decided(bucket, decision.mode, decision.outcome);
    report(res, decision);
    const refused = refusal(decision);
    if (refused !== undefined) throw refused;
    if (decision.outcome === "admitted") contextOf(res).spent = { quota, reservation, admitted: decision };
  }

  function reserve(res: Response, quota: Quota, reservation: Reservation): Promise<void> {
    return decide(res, { quota, reservation }, () => quota.reserve(reservation));
  }

  return {
    async admit(req, res, next) {
      const tooMuch = overload.reason();
      if (tooMuch !== undefined) {
        meter.shed(tooMuch);
        await reportAddress(res);
        throw shedding(tooMuch);
      }
      const authentication = await authenticate(req, res);
      if (authentication.outcome === "rejected") return reject(res, authentication);
      const { key: caller, isStale } = authentication;
      const context = contextOf(res);
      context.key = caller;
      context.isKeyStale = isStale;
      await reserve(res, accountQuota, {
        account: `${caller.accountId}`,
        key: `${caller.lineage}`,
        limits: limitsOf(caller),
        cost: 1,
      });
      context.isBodyPending = !req.complete;
      next();
    },
    async confirmKey(req, res) {
      const context = contextOf(res);
      const token = bearerToken(req);
      if (!context.isBodyPending || token instanceof Problem) return;
      const authentication = await authenticator.authenticate(token, addressBucket(context.clientAddress));
      if (authentication.outcome === "rejected") throw authentication.problem;
      context.isKeyStale = authentication.isStale;
    },
    async extend(res, cost) {
      const context = contextOf(res);
      if (context.spent === undefined) throw new Error("only an admitted request can be extended");
      const { quota, reservation, admitted: held } = context.spent;
      // The held unit is the engine's from here on: a refusal gives it back.
      delete context.spent;
      const extended = { ...reservation, cost };
      await decide(res, { quota, reservation: extended }, () => quota.extend({ ...extended, held }));
    },
    refuseMalformed(req, res, next) {
      const problem = validateRequestMessage(req);
      if (problem === undefined) return next();
      return reject(res, { problem });
    },
    reportAddressQuota: reportAddress,
    async countMalformedRequest(problem, address) {
      const decision = await addressQuota.reserve(anonymousReservation(address));
      meter.decided("address", decision.mode, decision.outcome);
      return { decision, problem: refusal(decision) ?? problem };
    },
  };
}

type Rejected = Pick<Extract<Authentication, { outcome: "rejected" }>, "problem" | "key">;

/** Gives back the units of a request that failed, by our fault, before any of its work was done. Reports the new quota. */
export async function giveBack(res: Response): Promise<void> {
  const context = contextOf(res);
  if (context.spent === undefined || res.headersSent) return;
  const { quota, reservation, admitted } = context.spent;
  delete context.spent;
  report(res, await quota.refund({ ...reservation, spentIn: admitted }));
}

function report(res: Response, decision: Parameters<typeof rateLimitHeaders>[0]): void {
  for (const [name, value] of rateLimitHeaders(decision)) res.setHeader(name, value);
}

function shedding(reason: OverloadReason): Problem {
  return new Problem(
    "SERVICE_UNAVAILABLE",
    "There are more requests than can be answered in time; try again shortly.",
    {
      cause: new Error(`${reason} overload`),
      retryAfterSeconds: 1,
    },
  );
}

/** The problem a decision is answered with; none when it admits. */
function refusal(decision: Decision): Problem | undefined {
  switch (decision.outcome) {
    case "admitted":
      return undefined;
    case "impossible":
      return new Problem("OPERATION_TOO_LARGE");
    case "banned":
      return new Problem("API_KEY_BANNED", undefined, { retryAfterSeconds: retryAfterSeconds(decision) });
    case "refused":
      return new Problem(decision.by === "day" ? "DAILY_QUOTA_EXCEEDED" : "RATE_LIMIT_EXCEEDED", undefined, {
        retryAfterSeconds: retryAfterSeconds(decision),
      });
  }
}
