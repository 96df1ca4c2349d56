import { ReplyError } from "ioredis";
import { Problem } from "../../../problem.js";
import type { Admitted, Decision } from "../../decision.js";
import type { Penalties } from "../../penalties.js";
import type { Quota, Reservation } from "../../quota.js";
import { batchEqual } from "../batch-equal.js";
import type { RedisQuota } from "../redis-quota.js";
import type { AccountCounters } from "../reserve-script.js";
import type { Breaker } from "./breaker.js";
import type { LastKnownCounts } from "./last-known-counts.js";

export interface FallbackQuotaOptions {
  readonly redisQuota: RedisQuota;
  readonly breaker: Breaker;
  readonly counts: LastKnownCounts;
  readonly failureMode: FailureMode;
}

export type FailureMode = "local" | "deny";

/**
 * Decides in Redis. While the breaker is open, or if a call fails, decides from the last known counts of this instance, or
 * with `deny` throws SERVICE_UNAVAILABLE. `liftBan` acts on this instance and on Redis. It ignores a failure of Redis:
 * `core.ts` lifts the ban again whenever it reads the key record. `penalties` and `bans` are those of Redis, or those that this
 * instance knows while the breaker is open. A failure rejects, and does not open the breaker: no request waits for them.
 */
export function createFallbackQuota({
  redisQuota,
  breaker,
  counts,
  failureMode,
}: FallbackQuotaOptions): Quota & Penalties {
  /** Gives `call` the units that Redis does not know yet. `call` must report them to Redis. */
  async function callRedis<Reply>(
    account: string,
    call: (unsynced?: AccountCounters) => Promise<Reply>,
  ): Promise<Reply> {
    const unsynced = counts.drainUnsynced(account);
    try {
      return await breaker.run(account, () => call(unsynced));
    } catch (error) {
      // After an error reply, Redis has not executed the call.
      if (error instanceof ReplyError && unsynced !== undefined) counts.restoreUnsynced(account, unsynced);
      throw error;
    }
  }

  async function decide(reservation: Reservation, times: number, heldIn?: Admitted): Promise<readonly Decision[]> {
    const { account } = reservation;

    function decideLocally(mayHaveExecuted: boolean): Decision[] {
      if (failureMode === "local") {
        return Array.from({ length: times }, () => counts.decide(reservation, mayHaveExecuted, heldIn));
      }
      throw new Problem("SERVICE_UNAVAILABLE", "The quota cannot be checked; try again shortly.", {
        cause: new Error("Redis is unavailable"),
        retryAfterSeconds: 1,
      });
    }

    if (!breaker.canCall()) return decideLocally(false);
    try {
      const decisions = await callRedis(account, (unsynced) => redisQuota.decide(reservation, times, unsynced, heldIn));
      for (const decision of decisions) counts.observe(reservation, decision);
      return decisions;
    } catch (error) {
      // The breaker has logged the first failure. Without an error reply, Redis may have executed the call, or it is paused
      // and will execute the call when it continues.
      return decideLocally(!(error instanceof ReplyError));
    }
  }

  return {
    // `decide` checks the breaker when the batch is sent: the breaker may have opened since the first request arrived.
    reserve: batchEqual(decide),
    async extend({ heldIn, ...reservation }) {
      const [decision] = await decide(reservation, 1, heldIn);
      return decision as Decision;
    },
    async usage(query) {
      if (!breaker.canCall()) return counts.usage(query);
      // The breaker logs the failure.
      return callRedis(query.account, (unsynced) => redisQuota.usage(query, unsynced)).catch(() => counts.usage(query));
    },
    async refund(units) {
      if (!breaker.canCall()) return counts.refund(units);
      return callRedis(units.account, (unsynced) => redisQuota.refund(units, unsynced)).catch((error: unknown) =>
        // Without an error reply, Redis may have given the units back already.
        error instanceof ReplyError ? counts.refund(units) : counts.usage(units),
      );
    },
    async liftBan(lift) {
      await counts.liftBan(lift);
      // The breaker logs the failure.
      if (breaker.canCall()) await breaker.run(lift.account, () => redisQuota.liftBan(lift)).catch(() => {});
    },
    penalties: (query) => (breaker.canCall() ? redisQuota : counts).penalties(query),
    bans: () => (breaker.canCall() ? redisQuota : counts).bans(),
  };
}
