/**
 * What stands in for the shared quota while it is away. It starts from the counters last seen in its replies and grants
 * this instance's share of what was left of each window, so that all instances together grant what the shared one would
 * have; in a window that begins during the outage, its share of the limit. What it grants is carried back afterwards.
 */
import { LRUCache } from "lru-cache";
import type { BanPolicy } from "./ban-policy.js";
import type { Decision } from "./decision.js";
import { createLocalQuota } from "./local-quota.js";
import type { Limits } from "./plan.js";
import type { Refund, Reservation, Usage, UsageQuery } from "./quota.js";
import type { Carried, CarriedWindow } from "./redis-quota.js";
import { dayMs, minuteMs, type WindowState, type Windows } from "./window.js";

export interface StandbyOptions {
  /** Epoch milliseconds of this machine; the shared clock is reckoned from it and the last reply. */
  readonly now: () => number;
  readonly banPolicy: BanPolicy;
  /** How many instances share the limits. */
  readonly instances: number;
  /** Accounts remembered at once. */
  readonly capacity: number;
  /** How often the shared quota has gone away, the present outage included. */
  readonly outages: () => number;
}

export interface Standby {
  /** Remembers what the shared quota answered. */
  observe(reservation: Reservation, decision: Decision): void;
  /** Decides in the shared quota's place; `isCounted` when that has counted the units, or may have. */
  reserve(reservation: Reservation, isCounted: boolean): Promise<Decision>;
  usage(query: UsageQuery): Promise<Usage>;
  refund(refund: Refund): Promise<Windows>;
  /** What the account's first call after an outage brings along; taken once. */
  takeCarried(account: string): Carried | undefined;
  /** Takes back what a call that was not executed had brought along. */
  putBack(account: string, carried: Carried): void;
  /** Forgets what was seen and granted; bans of the outage stay. */
  reset(account: string): Promise<void>;
  liftBan(target: { readonly account: string; readonly key: string }): Promise<void>;
}

/** What is known of one window of an account: `seen` in the last reply, `granted` alone since. */
interface Tally {
  readonly lengthMs: number;
  seenStartMs: number;
  seen: number;
  grantedStartMs: number;
  granted: number;
}

interface Sighting {
  readonly minute: Tally;
  readonly day: Tally;
  readonly bannedUntilMs: Map<string, number>;
  /** The outage the stand-in was seeded for, and the last one after which the account was carried back. */
  seededFor: number;
  carriedAfter: number;
}

export function createStandby({ now, banPolicy, instances, capacity, outages }: StandbyOptions): Standby {
  let clockOffsetMs = 0;
  const sightings = new LRUCache<string, Sighting>({ max: capacity });
  const local = createLocalQuota({ now: sharedNow, banPolicy, capacity });

  function sharedNow(): number {
    return now() + clockOffsetMs;
  }

  function sightingOf(account: string, carriedAfter: number): Sighting {
    let sighting = sightings.get(account);
    if (sighting === undefined) {
      sighting = { minute: tally(minuteMs), day: tally(dayMs), bannedUntilMs: new Map(), seededFor: 0, carriedAfter };
      sightings.set(account, sighting);
    }
    return sighting;
  }

  /** Readies the local engine for an account, once an outage, and returns the limits that hold here meanwhile. */
  function prepare(account: string, limits: Limits): Limits {
    const sighting = sightingOf(account, outages() - 1);
    const share = { perMinute: shareOf(limits.perMinute), perDay: shareOf(limits.perDay) };
    if (sighting.seededFor !== outages()) {
      sighting.seededFor = outages();
      local.seed(account, {
        minuteStartMs: sighting.minute.seenStartMs,
        minuteUsed: usedOfShare(sighting.minute.seen, limits.perMinute),
        dayStartMs: sighting.day.seenStartMs,
        dayUsed: usedOfShare(sighting.day.seen, limits.perDay),
        bannedUntilMs: sighting.bannedUntilMs,
      });
    }
    return share;
  }

  /** Never nothing: a limit below the number of instances would otherwise close the service. */
  function shareOf(limit: number): number {
    return Math.max(1, Math.floor(limit / instances));
  }

  /** Counts as used whatever is not this instance's share of the rest. */
  function usedOfShare(seen: number, limit: number): number {
    return shareOf(limit) - Math.floor(Math.max(0, limit - seen) / instances);
  }

  return {
    observe({ account, key }, decision) {
      clockOffsetMs = decision.nowMs - now();
      const sighting = sightingOf(account, outages());
      see(sighting.minute, decision.minute);
      see(sighting.day, decision.day);
      if (decision.outcome === "banned" && key !== undefined) {
        for (const [other, untilMs] of sighting.bannedUntilMs) {
          if (untilMs <= decision.nowMs) sighting.bannedUntilMs.delete(other);
        }
        sighting.bannedUntilMs.set(key, decision.bannedUntilMs);
      }
    },
    async reserve(reservation, isCounted) {
      const { account, cost, limits } = reservation;
      const decision = await local.reserve({ ...reservation, limits: prepare(account, limits) });
      if (decision.outcome === "admitted" && !isCounted) {
        const { minute, day } = sightingOf(account, outages() - 1);
        grant(minute, decision.minute, cost);
        grant(day, decision.day, cost);
      }
      // More than a share, but not more than the account's own limit: later, not never.
      const isPossible = cost <= limits.perMinute && cost <= limits.perDay;
      if (decision.outcome !== "impossible" || !isPossible) return decision;
      return { ...decision, outcome: "refused", by: "minute", retryAtMs: decision.minute.resetAtMs };
    },
    usage: (query) => local.usage({ ...query, limits: prepare(query.account, query.limits) }),
    refund(refund) {
      const { minute, day } = sightingOf(refund.account, outages() - 1);
      takeBack(minute, refund.spentIn.minute, refund.cost);
      takeBack(day, refund.spentIn.day, refund.cost);
      return local.refund({ ...refund, limits: prepare(refund.account, refund.limits) });
    },
    takeCarried(account) {
      const sighting = sightings.get(account);
      if (sighting === undefined || sighting.carriedAfter === outages()) return undefined;
      sighting.carriedAfter = outages();
      return { minute: take(sighting.minute), day: take(sighting.day) };
    },
    putBack(account, carried) {
      const sighting = sightingOf(account, outages() - 1);
      sighting.carriedAfter = outages() - 1;
      giveBack(sighting.minute, carried.minute);
      giveBack(sighting.day, carried.day);
    },
    async reset(account) {
      sightings.delete(account);
      await local.reset({ account });
    },
    async liftBan(target) {
      sightings.get(target.account)?.bannedUntilMs.delete(target.key);
      await local.liftBan(target);
    },
  };
}

function tally(lengthMs: number): Tally {
  return { lengthMs, seenStartMs: 0, seen: 0, grantedStartMs: 0, granted: 0 };
}

/** Replies of calls that were under way together may arrive in any order: the highest count of the latest window holds. */
function see(tally: Tally, { resetAtMs, used }: WindowState): void {
  const startMs = resetAtMs - tally.lengthMs;
  tally.seen = startMs === tally.seenStartMs ? Math.max(tally.seen, used) : used;
  tally.seenStartMs = startMs;
}

function grant(tally: Tally, { resetAtMs }: WindowState, units: number): void {
  const startMs = resetAtMs - tally.lengthMs;
  tally.granted = (startMs === tally.grantedStartMs ? tally.granted : 0) + units;
  tally.grantedStartMs = startMs;
}

function takeBack(tally: Tally, { resetAtMs }: WindowState, units: number): void {
  if (resetAtMs - tally.lengthMs === tally.grantedStartMs) tally.granted = Math.max(0, tally.granted - units);
}

function take(tally: Tally): CarriedWindow {
  const startMs = Math.max(tally.seenStartMs, tally.grantedStartMs);
  const floor = tally.seenStartMs === startMs ? tally.seen : 0;
  const units = tally.grantedStartMs === startMs ? tally.granted : 0;
  tally.granted = 0;
  return { startMs, floor, units };
}

function giveBack(tally: Tally, { startMs, units }: CarriedWindow): void {
  if (units > 0) grant(tally, { limit: 0, used: 0, resetAtMs: startMs + tally.lengthMs }, units);
}
