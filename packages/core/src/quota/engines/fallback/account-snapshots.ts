/**
 * The counts and bans in the last replies of Redis, for each account, and the units that Redis must still be told. The
 * fallback starts from them when Redis becomes unavailable.
 */
import { createLruCache } from "../../../lru-cache.js";
import type { Decision } from "../../decision.js";
import type { Reservation } from "../../quota.js";
import type { WindowState } from "../../window.js";
import type { AccountCounters, WindowCounter } from "../reserve-script.js";

export interface AccountSnapshotsOptions {
  /** The clock of this machine, in whole epoch milliseconds. */
  readonly now: () => number;
  /** How often Redis has become unavailable, the present outage included. */
  readonly outages: () => number;
  /** Accounts remembered at once; beyond it the account that was idle longest is forgotten. */
  readonly capacity: number;
  /** Redis has reported a ban, and now reports that it is over. */
  readonly onBanEnd: (target: { readonly account: string; readonly key: string }) => void;
}

export interface AccountSnapshots {
  /** The clock of Redis: the clock of this machine, corrected by the last reply. */
  now(): number;
  observe(reservation: Reservation, decision: Decision): void;
  /** Returns the units that the next call must report to Redis, and counts them as known to Redis from now on. */
  drainUnsynced(account: string): AccountCounters | undefined;
  /** Undoes a drain, because Redis did not execute the call. */
  restoreUnsynced(account: string, units: AccountCounters): void;
  find(account: string): AccountSnapshot | undefined;
  duringOutage(account: string): AccountSnapshot;
  entries(): Iterable<[account: string, snapshot: AccountSnapshot]>;
}

/** The counts and bans of an account, as far as this instance knows them. */
export interface AccountSnapshot {
  counters: AccountCounters;
  /** The bans that Redis has reported, by key. */
  readonly bannedUntilMs: Map<string, number>;
  /** The number of outages when the local quota was seeded with these counts. */
  outagesAtSeed: number;
  /** The number of outages when these counts were last sent to Redis. */
  outagesAtSync: number;
}

const emptyCounter: WindowCounter = { resetAtMs: 0, lastKnownUsed: 0, unsyncedUnits: 0 };
export const emptyCounters: AccountCounters = { minute: emptyCounter, day: emptyCounter };

export function createAccountSnapshots(options: AccountSnapshotsOptions): AccountSnapshots {
  const { now, outages, capacity, onBanEnd } = options;
  const snapshots = createLruCache<AccountSnapshot>(capacity);
  let clockOffsetMs = 0;

  /** For `outagesAtSync`: Redis must still be told the counts of the present outage. */
  const notSynced = () => outages() - 1;

  function snapshotOf(account: string, outagesAtSync: number): AccountSnapshot {
    let snapshot = snapshots.get(account);
    if (snapshot === undefined) {
      snapshot = { counters: emptyCounters, bannedUntilMs: new Map(), outagesAtSeed: 0, outagesAtSync };
      snapshots.set(account, snapshot);
    }
    return snapshot;
  }

  return {
    now: () => now() + clockOffsetMs,
    observe({ account, key }, decision) {
      clockOffsetMs = decision.nowMs - now();
      const snapshot = snapshotOf(account, outages());
      // Before a sync, this may be the late reply to an earlier call. It can show too few units, so keep the larger number.
      const isSynced = snapshot.outagesAtSync === outages();
      snapshot.counters = mapCounters(snapshot.counters, (counter, window) => {
        const { resetAtMs, lastKnownUsed, unsyncedUnits } = inWindow(counter, decision[window]);
        const { used } = decision[window];
        return { resetAtMs, lastKnownUsed: isSynced ? used : Math.max(lastKnownUsed, used), unsyncedUnits };
      });
      if (key === undefined) return;
      const { bannedUntilMs } = snapshot;
      if (decision.outcome !== "banned") {
        // The ban is over or was lifted by another process: it must not return with the next outage.
        if (bannedUntilMs.delete(key)) onBanEnd({ account, key });
        return;
      }
      for (const [other, untilMs] of bannedUntilMs) if (untilMs <= decision.nowMs) bannedUntilMs.delete(other);
      bannedUntilMs.set(key, decision.bannedUntilMs);
    },
    drainUnsynced(account) {
      const snapshot = snapshots.get(account);
      if (snapshot === undefined) return undefined;
      const { counters, outagesAtSync } = snapshot;
      const hasUnsynced = counters.minute.unsyncedUnits > 0 || counters.day.unsyncedUnits > 0;
      // Even after a sync there may be an unsynced unit, if this instance granted it at the moment the outage ended.
      if (outagesAtSync === outages() && !hasUnsynced) return undefined;
      // Without a reply, this call may be lost. The next call then raises the counters of Redis to these numbers.
      snapshot.counters = mapCounters(counters, (counter) => moveToKnown(counter, counter.unsyncedUnits));
      snapshot.outagesAtSync = outages();
      return counters;
    },
    restoreUnsynced(account, drained) {
      const snapshot = snapshotOf(account, notSynced());
      snapshot.outagesAtSync = notSynced();
      snapshot.counters = mapCounters(snapshot.counters, (counter, window) => {
        const { resetAtMs, unsyncedUnits } = drained[window];
        return counter.resetAtMs === resetAtMs ? moveToKnown(counter, -unsyncedUnits) : counter;
      });
    },
    find: (account) => snapshots.get(account),
    duringOutage: (account) => snapshotOf(account, notSynced()),
    entries: () => snapshots.entries(),
  };
}

export function mapCounters(
  { minute, day }: AccountCounters,
  change: (counter: WindowCounter, window: "minute" | "day") => WindowCounter,
): AccountCounters {
  return { minute: change(minute, "minute"), day: change(day, "day") };
}

/** The counter itself if it counts this window, else an empty one. */
export function inWindow(counter: WindowCounter, { resetAtMs }: WindowState): WindowCounter {
  return counter.resetAtMs === resetAtMs ? counter : { ...emptyCounter, resetAtMs };
}

export function moveToKnown({ resetAtMs, lastKnownUsed, unsyncedUnits }: WindowCounter, units: number): WindowCounter {
  return { resetAtMs, lastKnownUsed: lastKnownUsed + units, unsyncedUnits: unsyncedUnits - units };
}
