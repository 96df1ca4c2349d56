/** The shared quota with its stand-in: whatever becomes of Redis, every request is decided and has its headers. */
import { ReplyError } from "ioredis";
import { Problem } from "../problem.js";
import type { BanPolicy } from "./ban-policy.js";
import type { Breaker } from "./breaker.js";
import type { Decision } from "./decision.js";
import type { Quota, Reservation } from "./quota.js";
import type { RedisQuota } from "./redis-quota.js";
import { createStandby } from "./standby.js";

export interface FailoverQuotaOptions {
  readonly shared: RedisQuota;
  readonly breaker: Breaker;
  readonly banPolicy: BanPolicy;
  /** How many instances share the limits: each grants its part while the shared quota is away. */
  readonly instances: number;
  /** What an outage means for requests: they are decided here, or answered SERVICE_UNAVAILABLE. */
  readonly onFailure: OnRedisFailure;
  /** Accounts remembered for the next outage. */
  readonly capacity?: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export type OnRedisFailure = "local" | "deny";

export function createFailoverQuota(options: FailoverQuotaOptions): Quota {
  const { shared, breaker, banPolicy, instances, onFailure, capacity = 100_000, now } = options;
  const standby = createStandby({ now, banPolicy, instances, capacity, outages: () => breaker.outages });

  function standIn(reservation: Reservation, isCounted: boolean): Promise<Decision> {
    if (onFailure === "local") return standby.reserve(reservation, isCounted);
    throw new Problem("SERVICE_UNAVAILABLE", "The quota cannot be checked; try again shortly.", {
      retryAfterSeconds: 1,
    });
  }

  async function ask<T>(askShared: () => Promise<T>, askStandby: () => Promise<T>): Promise<T> {
    if (breaker.isOpen()) return askStandby();
    try {
      return await askShared();
    } catch (error) {
      breaker.open(error);
      return askStandby();
    }
  }

  return {
    async reserve(reservation) {
      if (breaker.isOpen()) return standIn(reservation, false);
      const carried = standby.takeCarried(reservation.account);
      try {
        const decision = await shared.reserve(reservation, carried);
        standby.observe(reservation, decision);
        return decision;
      } catch (error) {
        breaker.open(error);
        const isCounted = !wasRejected(error);
        if (carried !== undefined && !isCounted) standby.putBack(reservation.account, carried);
        return standIn(reservation, isCounted);
      }
    },
    usage: (query) =>
      ask(
        () => shared.usage(query),
        () => standby.usage(query),
      ),
    refund: (units) =>
      ask(
        () => shared.refund(units),
        () => standby.refund(units),
      ),
    async liftBan(target) {
      await standby.liftBan(target);
      await shared.liftBan(target);
    },
    async reset(target) {
      await standby.reset(target.account);
      await shared.reset(target);
    },
  };
}

/**
 * Whether Redis itself answered with an error, and so has not executed the call. Any other failure may have lost the
 * answer alone, and even a stopped Redis executes what it was sent when it goes on: those units are counted already.
 */
function wasRejected(error: unknown): boolean {
  return error instanceof ReplyError;
}
