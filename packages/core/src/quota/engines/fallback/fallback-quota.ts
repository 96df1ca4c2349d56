/** The shared quota with its stand-in: whatever becomes of Redis, every request is decided and has its headers. */
import { ReplyError } from "ioredis";
import { Problem } from "../../../problem.js";
import type { BanPolicy } from "../../ban-policy.js";
import type { Decision } from "../../decision.js";
import type { Quota, Reservation, Usage, UsageQuery } from "../../quota.js";
import { batchEqual } from "../batch-equal.js";
import type { Carried, RedisQuota } from "../redis-quota.js";
import type { Breaker } from "./breaker.js";
import { createLastKnownCounts } from "./last-known-counts.js";
import type { SharedClock } from "./shared-clock.js";

export interface FailoverQuotaOptions {
  readonly shared: RedisQuota;
  readonly breaker: Breaker;
  readonly clock: SharedClock;
  readonly banPolicy: BanPolicy;
  /** How many instances share the limits: each grants its part while the shared quota is away. */
  readonly instances: number;
  /** What an outage means for requests: they are decided here, or answered SERVICE_UNAVAILABLE. */
  readonly onFailure: OnRedisFailure;
  /** Accounts remembered for the next outage. */
  readonly capacity?: number;
}

export type OnRedisFailure = "local" | "deny";

/** While Redis is away, `liftBan` and `reset` act here and reject: other instances do not learn of them. */
export function createFailoverQuota(options: FailoverQuotaOptions): Quota {
  const { shared, breaker, onFailure, capacity = 100_000, ...rest } = options;
  const fallback = createLastKnownCounts({ ...rest, capacity, outages: () => breaker.outages });

  /** Asks Redis, and reports the units granted in the last outage with it. While Redis is unavailable, this instance decides. */
  async function decide<Decisions extends readonly Decision[]>(
    reservation: Reservation,
    askShared: (carried: Carried | undefined) => Promise<Decisions>,
    askFallback: (isCounted: boolean) => Promise<Decisions>,
  ): Promise<Decisions> {
    const { account } = reservation;
    if (breaker.isOpen()) return decideAlone(() => askFallback(false));
    const carried = fallback.takeCarried(account);
    try {
      const decisions = await breaker.ask(account, () => askShared(carried));
      for (const decision of decisions) fallback.observe(reservation, decision);
      return decisions;
    } catch (error) {
      // The breaker has logged it. From here on these requests are like any other of the outage.
      const isCounted = !wasRejected(error);
      if (carried !== undefined && !isCounted) fallback.putBack(account, carried);
      return decideAlone(() => askFallback(isCounted));
    }
  }

  function decideAlone<Decisions>(askFallback: () => Promise<Decisions>): Promise<Decisions> {
    if (onFailure === "local") return askFallback();
    throw new Problem("SERVICE_UNAVAILABLE", "The quota cannot be checked; try again shortly.", {
      retryAfterSeconds: 1,
    });
  }

  async function usage(query: UsageQuery): Promise<Usage> {
    if (breaker.isOpen()) return fallback.usage(query);
    return breaker.ask(query.account, () => shared.usage(query)).catch(() => fallback.usage(query));
  }

  return {
    // Gathered here, so that the breaker is asked at the moment of sending.
    reserve: batchEqual((reservation, times) =>
      decide<readonly Decision[]>(
        reservation,
        (carried) => shared.reserveTimes(reservation, times, carried),
        (isCounted) => Promise.all(Array.from({ length: times }, () => fallback.reserve(reservation, isCounted))),
      ),
    ),
    async extend(extension) {
      const [decision] = await decide<readonly [Decision]>(
        extension,
        async (carried) => [await shared.extend(extension, carried)],
        async (isCounted) => [await fallback.extend(extension, isCounted)],
      );
      return decision;
    },
    usage: batchEqual(async (query, times) => Array(times).fill(await usage(query))),
    async refund(units) {
      if (breaker.isOpen()) return fallback.refund(units);
      // Not refunded here when it fails there: it may have been executed, and would then be given back twice.
      return breaker.ask(units.account, () => shared.refund(units)).catch(() => fallback.usage(units));
    },
    async liftBan(target) {
      await fallback.liftBan(target);
      await breaker.ask(target.account, () => shared.liftBan(target));
    },
    async bans() {
      // Not through the breaker: a look at everything takes longer than a decision may.
      return breaker.isOpen() ? fallback.bans() : shared.bans();
    },
    async reset(target) {
      await fallback.reset(target.account);
      await breaker.ask(target.account, () => shared.reset(target));
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
