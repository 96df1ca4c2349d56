/**
 * Decides while Redis is unavailable. It starts from the counters in the last replies of Redis and grants this instance's
 * share of what was left of each window. In a window that begins during the outage, it grants its share of the limit.
 * After the outage it reports to Redis the units that it granted, and the last known counters in case Redis lost its data.
 *
 * With even load, an account gets no more than its limit in a window. With uneven load on n instances, it gets at most
 * limit x (2 - 1/n) in a window that overlaps the outage, the units of Redis included: an instance that last saw the account
 * early in the window does not know the later units of the others. Example with a limit of 60 and n = 3: Redis has granted 60.
 * One instance knows this and grants nothing. Two have seen none of these units, and each grants its share of 20. Together
 * these are 100. The operations guide gives the bounds for a Redis that loses its data, and for a limit below n.
 */
import { type BanPolicy, isLifted } from "../../ban-policy.js";
import { type Admitted, type Decision, refusingWindow } from "../../decision.js";
import type { Limits } from "../../plan.js";
import type { Quota, Reservation } from "../../quota.js";
import type { UsedUnits, WindowState, Windows } from "../../window.js";
import { createLocalQuota, type LocalQuota } from "../local-quota.js";
import type { AccountCounters, WindowCounter } from "../reserve-script.js";
import {
  type AccountSnapshot,
  type AccountSnapshots,
  type AccountSnapshotsOptions,
  counterFor,
  createAccountSnapshots,
  mapCounters,
  moveToKnown,
} from "./account-snapshots.js";

export interface LastKnownCountsOptions extends Pick<AccountSnapshotsOptions, "now" | "currentOutage"> {
  readonly banPolicy: BanPolicy;
  readonly instances: number;
  readonly capacity?: number;
}

/** Reports each window with the limit of the account. This instance may still grant `limit - used` units. */
export interface LastKnownCounts
  extends Pick<Quota, "usage" | "refund" | "liftBan">,
    Pick<AccountSnapshots, "now" | "observe" | "drainUnsynced" | "restoreUnsynced"> {
  /**
   * Decides without Redis. `mayHaveExecuted`: the reservation was sent to Redis, which may have counted it. `heldIn`: the
   * admission of one unit that the reservation extends.
   */
  decide(reservation: Reservation, mayHaveExecuted: boolean, heldIn?: Admitted): Decision;
}

export function createLastKnownCounts(options: LastKnownCountsOptions): LastKnownCounts {
  const { now, banPolicy, instances, currentOutage, capacity = 100_000 } = options;
  const snapshots = createAccountSnapshots({
    now,
    currentOutage,
    capacity,
    // Lifts even a ban that begins in the future: after a failover, the clock may have stepped back.
    onBanEnd: (target) => void local.liftBan({ ...target, liftedAgoMs: Number.NEGATIVE_INFINITY }),
  });
  const local: LocalQuota = createLocalQuota({ now: snapshots.now, banPolicy, capacity });

  function seededSnapshotOf(account: string, limits: Limits): AccountSnapshot {
    const snapshot = snapshots.findOrCreate(account);
    if (snapshot.seededOutage !== currentOutage()) {
      snapshot.seededOutage = currentOutage();
      const { minute, day } = snapshot.counters;
      const used = { minute: usedOfShare(minute, limits.perMinute), day: usedOfShare(day, limits.perDay) };
      local.seed(account, used, snapshot.bans);
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

  /** Leaves this instance its share of the rest, less the unsynced units, which it has granted already. */
  function usedOfShare({ resetAtMs, lastKnownUsed, unsyncedUnits }: WindowCounter, limit: number): UsedUnits {
    const shareOfRest = Math.floor((limit - lastKnownUsed) / instances);
    return { used: shareOfLimit(limit) - shareOfRest + unsyncedUnits, resetAtMs };
  }

  return {
    ...snapshots,
    decide(reservation, mayHaveExecuted, heldIn) {
      const { account, cost, limits } = reservation;
      const snapshot = seededSnapshotOf(account, limits);
      const ofShare = local.decide(reservation, shareOf(limits), heldIn);
      const decision: Decision = { ...withAccountLimits(ofShare, limits), mode: "fallback" };
      if (decision.outcome === "admitted") {
        snapshot.counters = mapCounters(snapshot.counters, (before, window) => {
          const counter = counterFor(before, decision[window]);
          const isHeldHere = heldIn?.[window].resetAtMs === counter.resetAtMs;
          // The counter includes the held unit, unless the account was evicted since. Only the other units are added.
          const heldUnits = isHeldHere ? Math.min(1, counter.lastKnownUsed + counter.unsyncedUnits) : 0;
          const units = cost - heldUnits;
          const admitted = { ...counter, unsyncedUnits: counter.unsyncedUnits + units };
          return mayHaveExecuted ? moveToKnown(admitted, units) : admitted;
        });
        return decision;
      }
      // If Redis may have executed the extension, it may have given the held unit back already.
      if (heldIn !== undefined && !mayHaveExecuted) snapshot.counters = afterRefund(snapshot.counters, heldIn, 1);
      const isOnlyAboveShare = decision.outcome === "impossible" && cost <= Math.min(limits.perMinute, limits.perDay);
      if (!isOnlyAboveShare) return decision;
      // Redis may admit it later. One window always has too few units left: the default only satisfies the type.
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
    async liftBan(lift) {
      const bans = snapshots.find(lift.account)?.bans;
      const ban = bans?.get(lift.key);
      if (ban !== undefined && isLifted(ban, snapshots.now() - lift.liftedAgoMs)) bans?.delete(lift.key);
      await local.liftBan(lift);
    },
  };
}

/**
 * Takes refunded units off the unsynced units of the windows that hold them, also if Redis has counted the refunded units. It
 * never lowers `lastKnownUsed`: if too few units are unsynced, the rest is not given back.
 */
function afterRefund(counters: AccountCounters, heldIn: Windows, units: number): AccountCounters {
  return mapCounters(counters, (counter, window) => {
    if (counter.resetAtMs !== heldIn[window].resetAtMs) return counter;
    return { ...counter, unsyncedUnits: Math.max(0, counter.unsyncedUnits - units) };
  });
}

/** Keeps the number of units left, which is `share - used`. */
function withAccountLimits<Reported extends Windows>(windows: Reported, { perMinute, perDay }: Limits): Reported {
  return { ...windows, minute: withLimit(windows.minute, perMinute), day: withLimit(windows.day, perDay) };
}

function withLimit({ limit: share, used, resetAtMs }: WindowState, limit: number): WindowState {
  return { limit, used: used + limit - share, resetAtMs };
}
