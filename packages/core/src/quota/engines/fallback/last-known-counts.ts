/**
 * Decides while Redis is unavailable. It starts from the counters in the last replies of Redis and grants this instance's
 * share of what was left of each window. In a window that begins during the outage, it grants its share of the limit.
 * After the outage it reports to Redis the units that it granted, and the last known counters in case Redis lost its data.
 *
 * An instance does not know the units that the others used after its own last reply about the account. The operations guide
 * gives the bounds for all instances together. Example with a limit of 60 and 3 instances: Redis has granted 60. One instance
 * knows this and grants nothing. Two have seen none of these units, and each grants its share of 20. The total is 100.
 */
import { createLruCache } from "../../../lru-cache.js";
import type { BanPolicy } from "../../ban-policy.js";
import { type Admitted, type Decision, refusingWindow } from "../../decision.js";
import type { Penalties } from "../../penalties.js";
import type { Limits } from "../../plan.js";
import type { Quota, Reservation } from "../../quota.js";
import type { UsedUnits, WindowState, Windows } from "../../window.js";
import { createLocalQuota } from "../local-quota.js";
import type { AccountCounters, WindowCounter } from "../reserve-script.js";

export interface LastKnownCountsOptions {
  /** The clock of this machine, in whole epoch milliseconds. */
  readonly now: () => number;
  readonly banPolicy: BanPolicy;
  readonly instances: number;
  /** The number of the present outage, or of the last one. 0 before the first outage. */
  readonly currentOutage: () => number;
}

/** Results show the account's limits. `used` is set so that this instance may still grant `limit - used`. */
export interface LastKnownCounts extends Pick<Quota, "usage" | "refund" | "liftBan">, Penalties {
  /** The clock of Redis: the clock of this machine, corrected by the last reply. */
  now(): number;
  /**
   * Keeps the counts and the ban of a decision of Redis. Do not call it if an outage began before the reply: the reply
   * does not include the units that this instance has granted since.
   */
  observe(reservation: Reservation, decision: Decision): void;
  /** Returns the counters that the next call must report to Redis, and counts their units as reported. */
  drainUnsynced(account: string): AccountCounters | undefined;
  /**
   * Undoes `drainUnsynced` after Redis has answered the call with an error. The error began an outage. The first call
   * after the outage reports the units.
   */
  restoreUnsynced(account: string, units: AccountCounters): void;
  /**
   * Decides without Redis. `mayHaveExecuted`: the reservation was sent to Redis, which may have counted it. `heldIn`: the
   * admission of one unit that the reservation extends.
   */
  decide(reservation: Reservation, mayHaveExecuted: boolean, heldIn?: Admitted): Decision;
}

interface Snapshot {
  counters: AccountCounters;
  /** The last outage for which the counters were copied to the local quota. */
  seededOutage: number;
  /** `currentOutage` when all units were last reported to Redis; -1 if never. If it differs now, a report is due. */
  syncedOutage: number;
}

const capacity = 100_000;
const emptyCounter: WindowCounter = { resetAtMs: 0, lastKnownUsed: 0, unsyncedUnits: 0 };

export function createLastKnownCounts(options: LastKnownCountsOptions): LastKnownCounts {
  const { banPolicy, instances, currentOutage } = options;
  let clockOffsetMs = 0;
  const now = () => options.now() + clockOffsetMs;
  const snapshots = createLruCache<Snapshot>(capacity);
  const local = createLocalQuota({ now, banPolicy, capacity });

  function findOrCreate(account: string, syncedOutage: number): Snapshot {
    let snapshot = snapshots.get(account);
    if (snapshot === undefined) {
      snapshot = { counters: { minute: emptyCounter, day: emptyCounter }, seededOutage: 0, syncedOutage };
      snapshots.set(account, snapshot);
    }
    return snapshot;
  }

  /** A new snapshot counts as not synced, so the first call after the outage reports it to Redis. */
  function seededSnapshotOf(account: string, limits: Limits): Snapshot {
    const snapshot = findOrCreate(account, -1);
    if (snapshot.seededOutage !== currentOutage()) {
      snapshot.seededOutage = currentOutage();
      const { minute, day } = snapshot.counters;
      local.seed(account, { minute: usedOfShare(minute, limits.perMinute), day: usedOfShare(day, limits.perDay) });
    }
    return snapshot;
  }

  function shareOf({ perMinute, perDay }: Limits): Limits {
    return { perMinute: shareOfLimit(perMinute), perDay: shareOfLimit(perDay) };
  }

  /** At least 1: otherwise a limit below the number of instances would refuse everything. */
  function shareOfLimit(limit: number): number {
    return Math.max(1, Math.floor(limit / instances));
  }

  /** With this `used`, `share - used` is this instance's part of what Redis last had left, minus the units granted since. */
  function usedOfShare({ resetAtMs, lastKnownUsed, unsyncedUnits }: WindowCounter, limit: number): UsedUnits {
    const shareOfRest = Math.floor((limit - lastKnownUsed) / instances);
    return { used: shareOfLimit(limit) - shareOfRest + unsyncedUnits, resetAtMs };
  }

  return {
    now,
    observe({ account, key }, decision) {
      clockOffsetMs = decision.nowMs - options.now();
      const snapshot = findOrCreate(account, currentOutage());
      snapshot.counters = mapCounters(snapshot.counters, (counter, window) => ({
        ...counterFor(counter, decision[window]),
        lastKnownUsed: decision[window].used,
      }));
      if (key !== undefined) local.adoptBan(account, key, decision);
    },
    drainUnsynced(account) {
      const snapshot = snapshots.get(account);
      // One report after an outage is enough: only another outage adds unsynced units.
      if (snapshot === undefined || snapshot.syncedOutage === currentOutage()) return undefined;
      const { counters } = snapshot;
      // Redis may add the units although its reply is lost. So they now belong to `lastKnownUsed`: a later report raises the
      // counters of Redis to at least this number, and never adds the units twice.
      snapshot.counters = mapCounters(counters, (counter) => moveToKnown(counter, counter.unsyncedUnits));
      snapshot.syncedOutage = currentOutage();
      return counters;
    },
    restoreUnsynced(account, drained) {
      const snapshot = snapshots.get(account);
      if (snapshot === undefined) return;
      snapshot.counters = mapCounters(snapshot.counters, (counter, window) => {
        const { resetAtMs, unsyncedUnits } = drained[window];
        return counter.resetAtMs === resetAtMs ? moveToKnown(counter, -unsyncedUnits) : counter;
      });
    },
    decide(reservation, mayHaveExecuted, heldIn) {
      const { account, cost, limits } = reservation;
      const snapshot = seededSnapshotOf(account, limits);
      const ofShare = local.decide(reservation, shareOf(limits), heldIn);
      const decision: Decision = { ...withAccountLimits(ofShare, limits), mode: "fallback" };
      if (decision.outcome === "admitted") {
        snapshot.counters = mapCounters(snapshot.counters, (before, window) => {
          const counter = counterFor(before, decision[window]);
          const isHeldWindow = heldIn?.[window].resetAtMs === counter.resetAtMs;
          // The counter has the held unit already, unless the snapshot was evicted since. So only the other units are added.
          const heldUnits = isHeldWindow ? Math.min(1, counter.lastKnownUsed + counter.unsyncedUnits) : 0;
          const units = cost - heldUnits;
          const admitted = { ...counter, unsyncedUnits: counter.unsyncedUnits + units };
          return mayHaveExecuted ? moveToKnown(admitted, units) : admitted;
        });
        return decision;
      }
      const isOnlyAboveShare = decision.outcome === "impossible" && cost <= Math.min(limits.perMinute, limits.perDay);
      if (!isOnlyAboveShare) return decision;
      // Redis knows the whole limit, so it may admit this later. One window refuses: the default only satisfies the type.
      const by = refusingWindow(decision, cost) ?? "minute";
      return { ...decision, outcome: "refused", by, retryAtMs: decision[by].resetAtMs };
    },
    async usage(query) {
      seededSnapshotOf(query.account, query.limits);
      return withAccountLimits(await local.usage({ ...query, limits: shareOf(query.limits) }), query.limits);
    },
    async refund(refund) {
      const { account, limits, cost, heldIn } = refund;
      const snapshot = seededSnapshotOf(account, limits);
      snapshot.counters = afterRefund(snapshot.counters, heldIn, cost);
      return withAccountLimits(await local.refund({ ...refund, limits: shareOf(limits) }), limits);
    },
    liftBan: local.liftBan,
    penalties: local.penalties,
    bans: local.bans,
  };
}

function mapCounters(
  { minute, day }: AccountCounters,
  change: (counter: WindowCounter, window: "minute" | "day") => WindowCounter,
): AccountCounters {
  return { minute: change(minute, "minute"), day: change(day, "day") };
}

/** The counter itself if it counts this window, else an empty one. */
function counterFor(counter: WindowCounter, { resetAtMs }: WindowState): WindowCounter {
  return counter.resetAtMs === resetAtMs ? counter : { ...emptyCounter, resetAtMs };
}

function moveToKnown({ resetAtMs, lastKnownUsed, unsyncedUnits }: WindowCounter, units: number): WindowCounter {
  return { resetAtMs, lastKnownUsed: lastKnownUsed + units, unsyncedUnits: unsyncedUnits - units };
}

/**
 * Redis cannot be told of the refund now. So `unsyncedUnits` shrinks, even if Redis granted the refunded units. If fewer are
 * unsynced, the rest stays used.
 */
function afterRefund(counters: AccountCounters, heldIn: Windows, units: number): AccountCounters {
  return mapCounters(counters, (counter, window) => {
    if (counter.resetAtMs !== heldIn[window].resetAtMs) return counter;
    return { ...counter, unsyncedUnits: Math.max(0, counter.unsyncedUnits - units) };
  });
}

/** Replaces the shares by the limits of the account. The units left stay the same, because `used` rises too. */
function withAccountLimits<Reported extends Windows>(windows: Reported, { perMinute, perDay }: Limits): Reported {
  return { ...windows, minute: withLimit(windows.minute, perMinute), day: withLimit(windows.day, perDay) };
}

function withLimit({ limit: share, used, resetAtMs }: WindowState, limit: number): WindowState {
  return { limit, used: used + limit - share, resetAtMs };
}
