/**
 * The one way into both doors: authenticate, then reserve, then report the quota on whatever is answered. A request
 * that shows no valid key is counted against its address instead: its headers are as true, and who goes on is told 429.
 */
import {
  type Core,
  type Decision,
  type KeyWithAccount,
  limitsOf,
  Problem,
  type Quota,
  type Reservation,
  retryAfterSeconds,
  type Usage,
} from "@petstore/core";
import type { Request, RequestHandler, Response } from "express";
import type { AdmissionMeter } from "./admission-meter.js";
import { addressBucket, clientAddress } from "./client-address.js";
import { bearerToken } from "./credentials.js";
import { exchangeOf } from "./exchange.js";
import type { Overload, OverloadReason } from "./overload.js";
import { rateLimitHeaders } from "./rate-limit-headers.js";
import { wireProblem } from "./wire-problem.js";

export interface AdmissionDeps {
  readonly core: Pick<Core, "authenticator" | "accountQuota" | "addressQuota" | "anonymousLimits" | "health">;
  readonly meter: Pick<AdmissionMeter, "decided" | "shed">;
  readonly overload: Pick<Overload, "reason">;
}

/**
 * Units a request costs. It may read the body to know; when it throws, the request costs 1 and is answered with what
 * was thrown.
 */
export type CostOf = (req: Request, res: Response) => number | Promise<number>;

export interface Admission {
  /** The handler in front of everything that needs a key. */
  admit(costOf?: CostOf): RequestHandler;
  /** Stands in front of everything that is answered: what HTTP/1.1 forbids is refused, and counted by address. */
  readonly refuseMalformed: RequestHandler;
  /** Reports the address's quota on answers that cost nothing. */
  reportAddressQuota(req: Request, res: Response): Promise<void>;
  /** Counts what failed before it became a request, against its address; the problem may become a 429. */
  countUnparsed(problem: Problem, address: string | undefined): Promise<{ decision: Decision; problem: Problem }>;
}

export function createAdmission({ core, meter, overload }: AdmissionDeps): Admission {
  const { authenticator, accountQuota, addressQuota, anonymousLimits } = core;

  async function authenticate(req: Request): Promise<KeyWithAccount | Problem> {
    const token = bearerToken(req);
    if (token instanceof Problem) return token;
    try {
      return await authenticator.authenticate(token);
    } catch (error) {
      return Problem.from(error);
    }
  }

  function anonymousReservation(address: string | undefined): Reservation {
    return { account: addressBucket(address), limits: anonymousLimits, cost: 1 };
  }

  function anonymousUsage(req: Request): Promise<Usage> {
    const { account, limits } = anonymousReservation(clientAddress(req));
    return addressQuota.usage({ account, limits });
  }

  /** Counts under the mode the decision came about in: a call that failed has made it `standby`. */
  async function decide(quota: Quota, reservation: Reservation): Promise<Decision> {
    const bucket = quota === accountQuota ? "account" : "address";
    try {
      const decision = await quota.reserve(reservation);
      meter.decided(bucket, core.health().quotaMode, decision.outcome);
      return decision;
    } catch (error) {
      meter.decided(bucket, core.health().quotaMode, "undecided");
      throw error;
    }
  }

  async function reserve(res: Response, quota: Quota, reservation: Reservation): Promise<void> {
    let decision: Decision;
    try {
      decision = await decide(quota, reservation);
    } catch (error) {
      // A quota that may not decide still knows what it last saw.
      report(res, await quota.usage(reservation));
      throw error;
    }
    report(res, decision);
    const refused = refusal(decision);
    if (refused !== undefined) throw refused;
    if (decision.outcome === "admitted") exchangeOf(res).spent = { quota, reservation, admitted: decision };
  }

  return {
    admit: (costOf) => async (req, res, next) => {
      const tooMuch = overload.reason();
      if (tooMuch !== undefined) {
        meter.shed(tooMuch);
        report(res, await anonymousUsage(req));
        throw shedding(tooMuch);
      }
      const caller = await authenticate(req);
      if (caller instanceof Problem) {
        await reserve(res, addressQuota, anonymousReservation(clientAddress(req)));
        throw caller;
      }
      exchangeOf(res).key = caller;
      let cost = 1;
      let fault: Problem | undefined;
      if (costOf !== undefined) {
        try {
          cost = await costOf(req, res);
        } catch (error) {
          fault = Problem.from(error);
        }
      }
      await reserve(res, accountQuota, {
        account: `${caller.accountId}`,
        key: `${caller.lineage}`,
        limits: limitsOf(caller),
        cost,
      });
      if (fault !== undefined) throw fault;
      next();
    },
    refuseMalformed(req, res, next) {
      const problem = wireProblem(req);
      if (problem === undefined) return next();
      return reserve(res, addressQuota, anonymousReservation(clientAddress(req))).then(() => next(problem));
    },
    async reportAddressQuota(req, res) {
      report(res, await anonymousUsage(req));
    },
    async countUnparsed(problem, address) {
      const decision = await decide(addressQuota, anonymousReservation(address));
      return { decision, problem: refusal(decision) ?? problem };
    },
  };
}

/** Gives the units of a request back that we failed before doing any of its work, and reports the quota anew. */
export async function giveBack(res: Response): Promise<void> {
  const exchange = exchangeOf(res);
  if (exchange.spent === undefined || res.headersSent) return;
  const { quota, reservation, admitted } = exchange.spent;
  delete exchange.spent;
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
