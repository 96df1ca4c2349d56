import { ReplyError } from "ioredis";
import { Problem } from "../../../problem.js";
import type { Admitted, Decision } from "../../decision.js";
import type { Quota, Reservation } from "../../quota.js";
import { batchEqual } from "../batch-equal.js";
import type { RedisQuota } from "../redis-quota.js";
import type { Breaker } from "./breaker.js";
import type { LastKnownCounts } from "./last-known-counts.js";

export interface FallbackQuotaOptions {
  readonly redisQuota: RedisQuota;
  readonly breaker: Breaker;
  readonly counts: LastKnownCounts;
  readonly failureMode: FailureMode;
}

/** While Redis is unavailable, this instance decides (local), or a request with a valid key gets SERVICE_UNAVAILABLE (deny). */
export type FailureMode = "local" | "deny";

/**
 * Decides in Redis. While the breaker is open, or if a call fails, decides from the last known counts of this instance, or
 * with `deny` throws SERVICE_UNAVAILABLE.
 * `liftBan` and `reset` act on this instance and on Redis. If Redis is unavailable, `reset` rejects: the other instances
 * would keep the counts. `liftBan` does not reject: `core.ts` lifts the ban again whenever the key record is read.
 */
export function createFallbackQuota({ redisQuota, breaker, counts, failureMode }: FallbackQuotaOptions): Quota {
  /** Decides equal reservations. The call to Redis carries the units granted while Redis was unavailable. */
  async function decide(reservation: Reservation, times: number, heldIn?: Admitted): Promise<readonly Decision[]> {
    const { account } = reservation;

    function decideLocally(mayHaveExecuted: boolean): Decision[] {
      if (failureMode === "local") {
        return Array.from({ length: times }, () => counts.decide(reservation, mayHaveExecuted, heldIn));
      }
      throw new Problem("SERVICE_UNAVAILABLE", "The quota cannot be checked; try again shortly.", {
        retryAfterSeconds: 1,
      });
    }

    if (!breaker.canCall()) return decideLocally(false);
    const unsynced = counts.drainUnsynced(account);
    try {
      const decisions = await breaker.run(account, () => redisQuota.decide(reservation, times, unsynced, heldIn));
      for (const decision of decisions) counts.observe(reservation, decision);
      return decisions;
    } catch (error) {
      // The breaker has logged the first failure. After an error reply, Redis has not executed the call. After any other failure it may
      // have: perhaps only the reply was lost, and a paused Redis executes pending calls when it continues.
      const mayHaveExecuted = !(error instanceof ReplyError);
      if (!mayHaveExecuted && unsynced !== undefined) counts.restoreUnsynced(account, unsynced);
      return decideLocally(mayHaveExecuted);
    }
  }

  return {
    // A batch consults the breaker when it is sent, not when its first request arrives.
    reserve: batchEqual(decide),
    async extend({ heldIn, ...reservation }) {
      const [decision] = await decide(reservation, 1, heldIn);
      return decision as Decision;
    },
    async usage(query) {
      if (!breaker.canCall()) return counts.usage(query);
      // The breaker logs the failure.
      return breaker.run(query.account, () => redisQuota.usage(query)).catch(() => counts.usage(query));
    },
    async refund(units) {
      if (!breaker.canCall()) return counts.refund(units);
      // A failed call may have been executed. Refunding here too would give the units back twice.
      return breaker.run(units.account, () => redisQuota.refund(units)).catch(() => counts.usage(units));
    },
    async liftBan(lift) {
      await counts.liftBan(lift);
      // The breaker logs the failure.
      if (breaker.canCall()) await breaker.run(lift.account, () => redisQuota.liftBan(lift)).catch(() => {});
    },
    async reset(target) {
      await counts.reset(target);
      await breaker.run(target.account, () => redisQuota.reset(target));
    },
  };
}
