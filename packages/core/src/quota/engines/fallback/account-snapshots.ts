/**
 * The counts and bans in the last decisions of Redis, for each account, and the units that must still be reported to Redis.
 * The fallback starts from them when Redis becomes unavailable.
 */
import { createLruCache } from "../../../lru-cache.js";
import { type Penalty, penaltyOfBan } from "../../ban-policy.js";
import type { Decision } from "../../decision.js";
import type { Reservation } from "../../quota.js";
import type { WindowState } from "../../window.js";
import type { AccountCounters, WindowCounter } from "../reserve-script.js";

export interface AccountSnapshotsOptions {
  /** The clock of this machine, in whole epoch milliseconds. */
  readonly now: () => number;
  /** The number of the present outage, or of the last one. 0 before the first outage. */
  readonly currentOutage: () => number;
  /** Accounts remembered at once. */
  readonly capacity: number;
  /** Redis has reported a ban, and now reports that it is over. */
  readonly onBanEnd: (target: { readonly account: string; readonly key: string }) => void;
}

export interface AccountSnapshots {
  /** The clock of Redis: the clock of this machine, corrected by the last reply. */
  now(): number;
  /** Keeps the counts of a decision. Do not call it if an outage began before the reply: the counts then lack units. */
  observe(reservation: Reservation, decision: Decision): void;
  /** Returns the units that the next call must report to Redis, and marks them as known to Redis. */
  drainUnsynced(account: string): AccountCounters | undefined;
  /**
   * Undoes `drainUnsynced` after Redis has answered the call with an error. The error has opened the breaker, so the first
   * call after this outage reports the units.
   */
  restoreUnsynced(account: string, units: AccountCounters): void;
  find(account: string): AccountSnapshot | undefined;
  /** A new snapshot counts as not synced, so the first call after the outage reports it to Redis. */
  findOrCreate(account: string): AccountSnapshot;
}

export interface AccountSnapshot {
  counters: AccountCounters;
  /** The bans that Redis has reported, by key. */
  readonly bans: Map<string, Penalty>;
  /** The last outage for which `last-known-counts.ts` copied these counts to its local quota. */
  seededOutage: number;
  /** The last outage whose units Redis knows; -1 if none. A report is due while it is not `currentOutage`. */
  syncedOutage: number;
}

const notSynced = -1;
const emptyCounter: WindowCounter = { resetAtMs: 0, lastKnownUsed: 0, unsyncedUnits: 0 };
const emptyCounters: AccountCounters = { minute: emptyCounter, day: emptyCounter };

export function createAccountSnapshots(options: AccountSnapshotsOptions): AccountSnapshots {
  const { now, currentOutage, capacity, onBanEnd } = options;
  const snapshots = createLruCache<AccountSnapshot>(capacity);
  let clockOffsetMs = 0;

  function snapshotOf(account: string, syncedOutage: number): AccountSnapshot {
    let snapshot = snapshots.get(account);
    if (snapshot === undefined) {
      snapshot = { counters: emptyCounters, bans: new Map(), seededOutage: 0, syncedOutage };
      snapshots.set(account, snapshot);
    }
    return snapshot;
  }

  return {
    now: () => now() + clockOffsetMs,
    observe({ account, key }, decision) {
      clockOffsetMs = decision.nowMs - now();
      const snapshot = snapshotOf(account, currentOutage());
      snapshot.counters = mapCounters(snapshot.counters, (counter, window) => ({
        ...counterFor(counter, decision[window]),
        lastKnownUsed: decision[window].used,
      }));
      if (key === undefined) return;
      const { bans } = snapshot;
      if (decision.outcome !== "banned") {
        // The ban is over or was lifted by another process: it must not return with the next outage.
        if (bans.delete(key)) onBanEnd({ account, key });
        return;
      }
      if (bans.get(key)?.bannedUntilMs === decision.bannedUntilMs) return;
      for (const [other, { bannedUntilMs }] of bans) if (bannedUntilMs <= decision.nowMs) bans.delete(other);
      bans.set(key, penaltyOfBan(decision));
    },
    drainUnsynced(account) {
      const snapshot = snapshots.get(account);
      if (snapshot === undefined) return undefined;
      // One report after an outage is enough: no local decision adds unsynced units after the report.
      if (snapshot.syncedOutage === currentOutage()) return undefined;
      const { counters } = snapshot;
      // If the call is lost, it is unknown whether Redis has added the units. So they now belong to `lastKnownUsed`: the next
      // report only raises the counters of Redis to at least this number, and never adds them again.
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
    find: (account) => snapshots.get(account),
    findOrCreate: (account) => snapshotOf(account, notSynced),
  };
}

export function mapCounters(
  { minute, day }: AccountCounters,
  change: (counter: WindowCounter, window: "minute" | "day") => WindowCounter,
): AccountCounters {
  return { minute: change(minute, "minute"), day: change(day, "day") };
}

/** The counter itself if it counts this window, else an empty one. */
export function counterFor(counter: WindowCounter, { resetAtMs }: WindowState): WindowCounter {
  return counter.resetAtMs === resetAtMs ? counter : { ...emptyCounter, resetAtMs };
}

export function moveToKnown({ resetAtMs, lastKnownUsed, unsyncedUnits }: WindowCounter, units: number): WindowCounter {
  return { resetAtMs, lastKnownUsed: lastKnownUsed + units, unsyncedUnits: unsyncedUnits - units };
}
