/**
 * The quota of one process, in memory: the default, the reference the other engines are compared with, and the
 * stand-in while a shared one is away. Nothing awaits inside a decision, so both windows change together or not at all.
 */
import { createLruCache } from "../../lru-cache.js";
import {
  afterRefusal,
  type BanPolicy,
  banEnding,
  defaultBanPolicy,
  type Penalty,
  penaltyExpiresAtMs,
} from "../ban-policy.js";
import { banned, type Decision, refusingWindow } from "../decision.js";
import type { Limits } from "../plan.js";
import type { Extension, Quota, Refund, Reservation, Usage, UsageQuery } from "../quota.js";
import { dayMs, minuteMs, type Windows, windowAt } from "../window.js";

export interface LocalQuotaOptions {
  /** Epoch milliseconds, whole. */
  readonly now: () => number;
  readonly banPolicy?: BanPolicy;
  /** Accounts remembered at once; beyond it the one that has been idle longest is forgotten. About 500 bytes each. */
  readonly capacity?: number;
}

/** Units spent, by the start of the window they were spent in, and what is held against each key. */
interface Ledger {
  minuteStartMs: number;
  minuteUsed: number;
  dayStartMs: number;
  dayUsed: number;
  readonly penalties: Map<string, Penalty>;
}

/** What an account is known to have spent, and until when its keys are banned. */
interface Seed {
  readonly minuteStartMs: number;
  readonly minuteUsed: number;
  readonly dayStartMs: number;
  readonly dayUsed: number;
  readonly bannedUntilMs: ReadonlyMap<string, number>;
}

/** `share` is the part of the limits that may be granted here; a ban depends on the limits themselves. */
export interface LocalQuota extends Quota {
  reserve(reservation: Reservation, share?: Limits): Promise<Decision>;
  extend(extension: Extension, share?: Limits): Promise<Decision>;
  /** Replaces what is counted for an account, and adds the bans. */
  seed(account: string, seed: Seed): void;
}

const mode = "local";

export function createLocalQuota(options: LocalQuotaOptions): LocalQuota {
  const { now, banPolicy = defaultBanPolicy, capacity = 100_000 } = options;
  const ledgers = createLruCache<Ledger>(capacity);

  function reserve({ account, key, limits, cost }: Reservation, share = limits): Decision {
    const nowMs = now();
    const ledger = ledgers.get(account) ?? openLedger(account);
    const windows = windowsAt(nowMs, ledger, share);
    const penalty = key === undefined ? undefined : ledger.penalties.get(key);
    if (penalty !== undefined && penalty.bannedUntilMs > nowMs)
      return banned(mode, windows, penalty.bannedUntilMs, cost);
    if (cost > share.perMinute || cost > share.perDay) return { outcome: "impossible", mode, ...windows };
    const by = refusingWindow(windows, cost);
    if (by === undefined) {
      ledger.minuteStartMs = windows.minute.resetAtMs - minuteMs;
      ledger.minuteUsed = windows.minute.used + cost;
      ledger.dayStartMs = windows.day.resetAtMs - dayMs;
      ledger.dayUsed = windows.day.used + cost;
      return { outcome: "admitted", mode, ...windowsAt(nowMs, ledger, share) };
    }
    const retryAtMs = windows[by].resetAtMs;
    if (key !== undefined) {
      const after = afterRefusal(penalty, { nowMs, retryAtMs, minuteLimit: limits.perMinute }, banPolicy);
      remember(ledger.penalties, key, after, nowMs);
      if (after.bannedUntilMs > nowMs) return banned(mode, windows, after.bannedUntilMs, cost);
    }
    return { outcome: "refused", mode, ...windows, by, retryAtMs };
  }

  function usage({ account, key, limits }: UsageQuery): Usage {
    const nowMs = now();
    const ledger = ledgers.get(account);
    const windows = windowsAt(nowMs, ledger, limits);
    const bannedUntilMs = key === undefined ? 0 : (ledger?.penalties.get(key)?.bannedUntilMs ?? 0);
    return bannedUntilMs > nowMs ? { ...windows, bannedUntilMs } : windows;
  }

  function extend({ held, ...reservation }: Extension, share?: Limits): Decision {
    giveBack(ledgers.get(reservation.account), 1, held);
    return reserve(reservation, share);
  }

  function refund({ account, limits, cost, spentIn }: Refund): Windows {
    const ledger = ledgers.get(account);
    giveBack(ledger, cost, spentIn);
    return windowsAt(now(), ledger, limits);
  }

  function openLedger(account: string): Ledger {
    const ledger = { minuteStartMs: 0, minuteUsed: 0, dayStartMs: 0, dayUsed: 0, penalties: new Map() };
    ledgers.set(account, ledger);
    return ledger;
  }

  /** Drops what has expired before it adds a key, so an account that rotates its keys does not gather penalties. */
  function remember(penalties: Map<string, Penalty>, key: string, penalty: Penalty, nowMs: number): void {
    if (!penalties.has(key)) {
      for (const [other, held] of penalties) {
        if (penaltyExpiresAtMs(held, banPolicy) <= nowMs) penalties.delete(other);
      }
    }
    penalties.set(key, penalty);
  }

  return {
    seed(account, { bannedUntilMs, ...spent }) {
      const ledger = ledgers.get(account) ?? openLedger(account);
      Object.assign(ledger, spent);
      for (const [key, untilMs] of bannedUntilMs) {
        if ((ledger.penalties.get(key)?.bannedUntilMs ?? 0) < untilMs) ledger.penalties.set(key, banEnding(untilMs));
      }
    },
    reserve: async (reservation, share) => reserve(reservation, share),
    extend: async (extension, share) => extend(extension, share),
    usage: async (query) => usage(query),
    refund: async (units) => refund(units),
    liftBan: async ({ account, key }) => {
      ledgers.get(account)?.penalties.delete(key);
    },
    bans: async () => {
      const nowMs = now();
      return [...ledgers.entries()].flatMap(([account, { penalties }]) =>
        [...penalties].flatMap(([key, { bannedUntilMs }]) =>
          bannedUntilMs > nowMs ? [{ account, key, bannedUntilMs }] : [],
        ),
      );
    },
    reset: async ({ account }) => {
      const ledger = ledgers.get(account);
      if (ledger !== undefined) Object.assign(ledger, { minuteStartMs: 0, minuteUsed: 0, dayStartMs: 0, dayUsed: 0 });
    },
  };
}

function giveBack(ledger: Ledger | undefined, units: number, spentIn: Windows): void {
  if (ledger === undefined) return;
  if (ledger.minuteStartMs + minuteMs === spentIn.minute.resetAtMs) {
    ledger.minuteUsed = Math.max(0, ledger.minuteUsed - units);
  }
  if (ledger.dayStartMs + dayMs === spentIn.day.resetAtMs) ledger.dayUsed = Math.max(0, ledger.dayUsed - units);
}

function windowsAt(nowMs: number, ledger: Ledger | undefined, limits: Limits): Windows {
  return {
    nowMs,
    minute: windowAt(nowMs, minuteMs, ledger?.minuteStartMs ?? 0, ledger?.minuteUsed ?? 0, limits.perMinute),
    day: windowAt(nowMs, dayMs, ledger?.dayStartMs ?? 0, ledger?.dayUsed ?? 0, limits.perDay),
  };
}
