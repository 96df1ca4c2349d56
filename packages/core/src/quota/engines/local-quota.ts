/**
 * The quota of one process, in memory: of a store without Redis, and of each instance during an outage of Redis. A decision
 * never awaits, so both windows change together or not at all.
 */
import { createLruCache } from "../../lru-cache.js";
import {
  afterRefusal,
  type BanPolicy,
  currentPenalty,
  defaultBanPolicy,
  type Penalty,
  penaltyExpiresAtMs,
  penaltyOfBan,
} from "../ban-policy.js";
import { bannedDecision, type Decision, refusingWindow } from "../decision.js";
import type { Ban, Penalties } from "../penalties.js";
import type { Limits } from "../plan.js";
import type { Quota, Reservation } from "../quota.js";
import { dayMs, minuteMs, type UsedUnits, type WindowState, type Windows, windowAt } from "../window.js";

export interface LocalQuotaOptions {
  /** Whole epoch milliseconds. */
  readonly now: () => number;
  readonly banPolicy?: BanPolicy;
  /** Accounts remembered at once, about 500 bytes each. */
  readonly capacity?: number;
}

/** The used units of an account, each in the last window in which units were reserved. */
interface UsedWindows {
  minute: UsedUnits;
  day: UsedUnits;
}

interface Ledger extends UsedWindows {
  readonly penalties: Map<string, Penalty>;
}

export interface LocalQuota extends Quota, Penalties {
  /** `share` is the part of the limits that this process may grant. Bans depend on the whole limits. */
  decide(reservation: Reservation, share: Limits, receipt?: Windows): Decision;
  /** Replaces the units of an account. */
  seed(account: string, used: UsedWindows): void;
  /** Begins or ends the ban of a key as Redis has decided. */
  adoptBan(account: string, key: string, decision: Decision): void;
}

const mode = "local";
const unused: UsedUnits = { used: 0, resetAtMs: 0 };
const nothingUsed: Readonly<UsedWindows> = { minute: unused, day: unused };

export function createLocalQuota(options: LocalQuotaOptions): LocalQuota {
  const { now, banPolicy = defaultBanPolicy, capacity = 100_000 } = options;
  const ledgers = createLruCache<Ledger>(capacity);

  function decide({ account, key, limits, cost }: Reservation, share: Limits, receipt?: Windows): Decision {
    const nowMs = now();
    const ledger = ledgers.get(account) ?? openLedger(account);
    const windows = windowsAt(nowMs, ledger, share);
    const penalty = key === undefined ? undefined : ledger.penalties.get(key);
    if (penalty !== undefined && penalty.bannedUntilMs > nowMs)
      return bannedDecision(mode, windows, { bannedUntilMs: penalty.bannedUntilMs, beginsBan: false }, cost);
    if (cost > share.perMinute || cost > share.perDay) return { outcome: "impossible", mode, ...windows };
    const before = receipt === undefined ? windows : withoutHeldUnit(windows, receipt);
    // A refused extension keeps its held unit, so the units left for a retry are those of `windows`.
    const by = refusingWindow(windows, cost);
    if (by === undefined || refusingWindow(before, cost) === undefined) {
      ledger.minute = { used: before.minute.used + cost, resetAtMs: before.minute.resetAtMs };
      ledger.day = { used: before.day.used + cost, resetAtMs: before.day.resetAtMs };
      return { outcome: "admitted", mode, ...windowsAt(nowMs, ledger, share) };
    }
    const retryAtMs = windows[by].resetAtMs;
    if (key !== undefined) {
      const after = afterRefusal(penalty, { nowMs, retryAtMs, minuteLimit: limits.perMinute }, banPolicy);
      remember(ledger.penalties, key, after, nowMs);
      const { bannedUntilMs } = after;
      if (bannedUntilMs > nowMs) return bannedDecision(mode, windows, { bannedUntilMs, beginsBan: true }, cost);
    }
    return { outcome: "refused", mode, ...windows, by, retryAtMs };
  }

  function openLedger(account: string): Ledger {
    const ledger = { ...nothingUsed, penalties: new Map() };
    ledgers.set(account, ledger);
    return ledger;
  }

  /** Drops expired penalties before it adds a key, so that an account with many keys does not fill the memory. */
  function remember(penalties: Map<string, Penalty>, key: string, penalty: Penalty, nowMs: number): void {
    if (!penalties.has(key)) {
      for (const [other, stored] of penalties) {
        if (penaltyExpiresAtMs(stored, banPolicy) <= nowMs) penalties.delete(other);
      }
    }
    penalties.set(key, penalty);
  }

  return {
    async penalties({ account, keys, limits }) {
      const current = { nowMs: now(), minuteLimit: limits.perMinute };
      const stored = ledgers.get(account)?.penalties;
      return keys.flatMap((key) => {
        const penalty = stored?.get(key);
        return (penalty && currentPenalty(key, penalty, current, banPolicy)) ?? [];
      });
    },
    async bans() {
      const nowMs = now();
      const found: Ban[] = [];
      for (const [account, { penalties }] of ledgers.entries()) {
        for (const [key, { bannedUntilMs, episodeStartMs }] of penalties) {
          if (bannedUntilMs > nowMs) found.push({ account, key, bannedUntilMs, sinceMs: nowMs - episodeStartMs });
        }
      }
      return found;
    },
    seed(account, used) {
      Object.assign(ledgers.get(account) ?? openLedger(account), used);
    },
    adoptBan(account, key, decision) {
      const penalties = ledgers.get(account)?.penalties;
      const bannedUntilMs = penalties?.get(key)?.bannedUntilMs ?? 0;
      if (decision.outcome !== "banned") {
        // The ban was lifted, or this instance gave it by itself in an outage. It must not return in the next outage.
        if (bannedUntilMs > decision.nowMs) penalties?.delete(key);
      } else if (bannedUntilMs !== decision.bannedUntilMs) {
        remember(penalties ?? openLedger(account).penalties, key, penaltyOfBan(decision), decision.nowMs);
      }
    },
    decide,
    reserve: async (reservation) => decide(reservation, reservation.limits),
    extend: async ({ receipt, ...reservation }) => decide(reservation, reservation.limits, receipt),
    async usage({ account, key, limits }) {
      const nowMs = now();
      const ledger = ledgers.get(account);
      const windows = windowsAt(nowMs, ledger, limits);
      const bannedUntilMs = key === undefined ? 0 : (ledger?.penalties.get(key)?.bannedUntilMs ?? 0);
      return bannedUntilMs > nowMs ? { ...windows, bannedUntilMs } : windows;
    },
    async refund({ account, limits, cost, receipt }) {
      const ledger = ledgers.get(account);
      if (ledger !== undefined) giveBack(ledger, cost, receipt);
      return windowsAt(now(), ledger, limits);
    },
    async liftBan({ account, key, liftedAgoMs }) {
      const penalties = ledgers.get(account)?.penalties;
      const penalty = penalties?.get(key);
      if (penalty !== undefined && penalty.episodeStartMs <= now() - liftedAgoMs) penalties?.delete(key);
    },
  };
}

function withoutHeldUnit(windows: Windows, receipt: Windows): Windows {
  const without = (window: "minute" | "day"): WindowState => {
    const state = windows[window];
    return state.resetAtMs === receipt[window].resetAtMs ? { ...state, used: Math.max(0, state.used - 1) } : state;
  };
  return { ...windows, minute: without("minute"), day: without("day") };
}

function giveBack(ledger: Ledger, units: number, receipt: Windows): void {
  for (const window of ["minute", "day"] as const) {
    const { used, resetAtMs } = ledger[window];
    if (resetAtMs === receipt[window].resetAtMs) ledger[window] = { used: Math.max(0, used - units), resetAtMs };
  }
}

function windowsAt(nowMs: number, { minute, day }: UsedWindows = nothingUsed, { perMinute, perDay }: Limits): Windows {
  return {
    nowMs,
    minute: windowAt(nowMs, minuteMs, minute, perMinute),
    day: windowAt(nowMs, dayMs, day, perDay),
  };
}
