/**
 * The rules a second time, in their simplest form: it keeps the whole history and computes every decision from it. It is
 * far too slow for a service, but it has none of the state of the engines.
 */
import type { BanPolicy } from "../../../src/quota/ban-policy.js";
import type { Decision } from "../../../src/quota/decision.js";
import type { Limits } from "../../../src/quota/plan.js";
import type { Quota, Reservation } from "../../../src/quota/quota.js";
import type { WindowState, Windows } from "../../../src/quota/window.js";

interface NaiveQuotaOptions {
  readonly now: () => number;
  readonly banPolicy: BanPolicy;
}

const mode = "local";

type Length = "minute" | "day";
const lengths = { minute: 60_000, day: 24 * 60 * 60_000 } as const;

type PastCall =
  | (Units & { readonly what: "spent"; readonly account: string })
  | (Units & { readonly what: "refunded"; readonly account: string })
  | { readonly what: "forgotten"; readonly account: string }
  | { readonly what: "pardoned"; readonly account: string; readonly key: string }
  | (Refusal & { readonly what: "refused"; readonly account: string; readonly key: string });

interface Units {
  readonly cost: number;
  readonly windows: Windows;
}

interface Refusal {
  readonly atMs: number;
  readonly retryAtMs: number;
  readonly minuteLimit: number;
}

interface Ban {
  readonly endMs: number;
  readonly lengthMs: number;
}

export function createNaiveQuota({ now, banPolicy }: NaiveQuotaOptions): Quota {
  const history: PastCall[] = [];

  function windows(account: string, limits: Limits): Windows {
    const all = history.filter((past) => past.account === account);
    const own = all.slice(all.findLastIndex(({ what }) => what === "forgotten") + 1);
    return {
      nowMs: now(),
      minute: windowOf("minute", own, now(), limits.perMinute),
      day: windowOf("day", own, now(), limits.perDay),
    };
  }

  function runningBan(account: string, key: string | undefined): Ban | undefined {
    if (key === undefined) return undefined;
    const own = history.flatMap((past) => {
      return "key" in past && past.account === account && past.key === key ? [past] : [];
    });
    const sincePardon = own.slice(own.findLastIndex(({ what }) => what === "pardoned") + 1);
    const refusals = sincePardon.flatMap((past) => (past.what === "refused" ? [past] : []));
    return bansAfter(refusals, banPolicy).findLast(({ endMs }) => now() < endMs);
  }

  function decide({ account, key, limits, cost }: Reservation): Decision {
    const before = windows(account, limits);
    const by = (["day", "minute"] as const).find((length) => before[length].limit - before[length].used < cost);
    const roomAtMs = by === undefined ? 0 : before[by].resetAtMs;
    const answerBan = ({ endMs }: Ban): Decision => {
      return { outcome: "banned", mode, ...before, bannedUntilMs: endMs, retryAtMs: Math.max(endMs, roomAtMs) };
    };

    const running = runningBan(account, key);
    if (running) return answerBan(running);
    if (cost > Math.min(limits.perMinute, limits.perDay)) return { outcome: "impossible", mode, ...before };
    if (by === undefined) {
      history.push({ what: "spent", account, cost, windows: before });
      return { outcome: "admitted", mode, ...windows(account, limits) };
    }
    if (key !== undefined) {
      const refusal = { atMs: now(), retryAtMs: roomAtMs, minuteLimit: limits.perMinute };
      history.push({ what: "refused", account, key, ...refusal });
      const begun = runningBan(account, key);
      if (begun) return answerBan(begun);
    }
    return { outcome: "refused", mode, ...before, by, retryAtMs: roomAtMs };
  }

  return {
    reserve: async (reservation) => decide(reservation),
    extend: async ({ heldIn, ...reservation }) => {
      history.push({ what: "refunded", account: reservation.account, cost: 1, windows: heldIn });
      return decide(reservation);
    },
    usage: async ({ account, key, limits }) => {
      const ban = runningBan(account, key);
      return { ...windows(account, limits), ...(ban && { bannedUntilMs: ban.endMs }) };
    },
    refund: async ({ account, limits, cost, heldIn }) => {
      history.push({ what: "refunded", account, cost, windows: heldIn });
      return windows(account, limits);
    },
    liftBan: async ({ account, key }) => {
      history.push({ what: "pardoned", account, key });
    },
    bans: async () => {
      const refused = history.filter(({ what }) => what === "refused") as Extract<PastCall, { what: "refused" }>[];
      const names = new Map(refused.map(({ account, key }) => [`${account} ${key}`, { account, key }]));
      return [...names.values()].flatMap(({ account, key }) => {
        const ban = runningBan(account, key);
        return ban ? [{ account, key, bannedUntilMs: ban.endMs }] : [];
      });
    },
    reset: async ({ account }) => {
      history.push({ what: "forgotten", account });
    },
  };
}

/** The window of the last spent units, if it is the current one or the next one. Else the current window, unspent. */
function windowOf(length: Length, history: readonly PastCall[], nowMs: number, limit: number): WindowState {
  const ownResetMs = (Math.floor(nowMs / lengths[length]) + 1) * lengths[length];
  const last = history.findLast((past) => past.what === "spent");
  const lastResetMs = last?.windows[length].resetAtMs ?? ownResetMs;
  if (lastResetMs !== ownResetMs && lastResetMs !== ownResetMs + lengths[length]) {
    return { limit, used: 0, resetAtMs: ownResetMs };
  }
  let used = 0;
  for (const past of sinceLastOutside(lastResetMs, length, history)) {
    if (past.what === "spent") used += past.cost;
    if (past.what === "refunded" && past.windows[length].resetAtMs === lastResetMs) {
      used = Math.max(0, used - past.cost);
    }
  }
  return { limit, used, resetAtMs: lastResetMs };
}

/** Only one window is counted at a time: spending in another one, even an earlier one, forgets it. */
function sinceLastOutside(resetAtMs: number, length: Length, history: readonly PastCall[]): readonly PastCall[] {
  const outside = history.findLastIndex(
    (past) => past.what === "spent" && past.windows[length].resetAtMs !== resetAtMs,
  );
  return history.slice(outside + 1);
}

/** The bans that follow from the refusals of one key since its last pardon. */
function bansAfter(refusals: readonly Refusal[], policy: BanPolicy): Ban[] {
  const bans: Ban[] = [];
  let first: Refusal | undefined;
  let earliestRetryMs = 0;
  let strikes = 0;
  for (const refusal of refusals) {
    const sinceFirstMs = refusal.atMs - (first?.atMs ?? 0);
    if (first === undefined || refusal.atMs >= earliestRetryMs || sinceFirstMs >= policy.longestEpisodeMs) {
      [first, earliestRetryMs, strikes] = [refusal, refusal.retryAtMs, 0];
      continue;
    }
    earliestRetryMs = Math.min(earliestRetryMs, refusal.retryAtMs);
    if (sinceFirstMs > policy.graceMs && earliestRetryMs - refusal.atMs > policy.earlyMs) strikes += 1;
    if (policy.minimumStrikes === 0 || strikes < policy.minimumStrikes) continue;
    if (strikes < policy.strikesPerUnit * refusal.minuteLimit) continue;
    const last = bans.at(-1);
    const lengthMs = last && refusal.atMs - last.endMs < policy.memoryMs ? last.lengthMs * 2 : policy.firstBanMs;
    const cappedMs = Math.min(lengthMs, policy.longestBanMs);
    bans.push({ endMs: refusal.atMs + cappedMs, lengthMs: cappedMs });
    first = undefined;
  }
  return bans;
}
