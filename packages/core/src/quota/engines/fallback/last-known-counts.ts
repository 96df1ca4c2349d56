/**
 * Decides while Redis is unavailable. It starts from the counters in the last replies and grants this instance's share of
 * what was left of each window; in a window that begins in the outage, its share of the limit. What it grants is carried
 * back afterwards, with what Redis is known to have counted, in case Redis comes back without its memory.
 *
 * With even load all instances together grant the limit. With uneven load, an instance that last saw an account early in
 * the window may grant up to its share again: at most limit x (2 - 1 / instances) in that window, and the limit in later
 * ones. A limit below the number of instances is granted once per instance.
 */
import { createLruCache } from "../../../lru-cache.js";
import type { BanPolicy } from "../../ban-policy.js";
import type { Admitted, Decision } from "../../decision.js";
import type { Limits } from "../../plan.js";
import type { BanRecord, Extension, Refund, Reservation, Usage, UsageQuery } from "../../quota.js";
import { dayMs, minuteMs, type WindowState, type Windows } from "../../window.js";
import { createLocalQuota } from "../local-quota.js";
import type { Carried, CarriedWindow } from "../redis-quota.js";
import type { SharedClock } from "./shared-clock.js";

export interface LastKnownCountsOptions {
  readonly clock: SharedClock;
  readonly banPolicy: BanPolicy;
  /** How many instances share the limits. */
  readonly instances: number;
  /** Accounts remembered at once. */
  readonly capacity: number;
  /** How often the shared quota has gone away, the present outage included. */
  readonly outages: () => number;
}

/** Reports windows as the shared quota does, under the account's own limits; what remains is what is granted here. */
export interface Fallback {
  /** Remembers what the shared quota answered. */
  observe(reservation: Reservation, decision: Decision): void;
  /** Decides in the shared quota's place; `isCounted` when that has counted the units, or may have. */
  reserve(reservation: Reservation, isCounted: boolean): Promise<Decision>;
  /** Extends an admission in the shared quota's place; `isCounted`: it made the extension, or may have made it. */
  extend(extension: Extension, isCounted: boolean): Promise<Decision>;
  usage(query: UsageQuery): Promise<Usage>;
  refund(refund: Refund): Promise<Windows>;
  /** What a call to the shared quota brings along: all that is owed to it. Taken once, and taken for counted from then on. */
  takeCarried(account: string): Carried | undefined;
  /** Takes back what a call that was not executed had brought along. */
  putBack(account: string, carried: Carried): void;
  /** Forgets what was seen and granted; bans stay. */
  reset(account: string): Promise<void>;
  liftBan(target: { readonly account: string; readonly key: string }): Promise<void>;
  /** What the shared quota has banned, as far as it was seen, and what was banned here. */
  bans(): Promise<BanRecord[]>;
}

/** The latest window of an account: units the shared quota has counted, or should have, and units granted without it. */
interface Tally {
  readonly lengthMs: number;
  startMs: number;
  floor: number;
  units: number;
}

interface Sighting {
  minute: Tally;
  day: Tally;
  readonly bannedUntilMs: Map<string, number>;
  /** The outage the local engine was seeded for, and the last one after which the account was carried back. */
  seededFor: number;
  carriedAfter: number;
}

export function createLastKnownCounts({
  clock,
  banPolicy,
  instances,
  capacity,
  outages,
}: LastKnownCountsOptions): Fallback {
  const sightings = createLruCache<Sighting>(capacity);
  const local = createLocalQuota({ now: clock.now, banPolicy, capacity });

  function sightingOf(account: string, carriedAfter: number): Sighting {
    let sighting = sightings.get(account);
    if (sighting === undefined) {
      sighting = { minute: tally(minuteMs), day: tally(dayMs), bannedUntilMs: new Map(), seededFor: 0, carriedAfter };
      sightings.set(account, sighting);
    }
    return sighting;
  }

  /** Seeds the local engine for an account, once an outage. */
  function prepare(account: string, limits: Limits): { readonly sighting: Sighting; readonly share: Limits } {
    const sighting = sightingOf(account, outages() - 1);
    const { minute, day, bannedUntilMs } = sighting;
    if (sighting.seededFor !== outages()) {
      sighting.seededFor = outages();
      local.seed(account, {
        minuteStartMs: minute.startMs,
        minuteUsed: usedOfShare(minute, limits.perMinute),
        dayStartMs: day.startMs,
        dayUsed: usedOfShare(day, limits.perDay),
        bannedUntilMs,
      });
    }
    return { sighting, share: { perMinute: shareOf(limits.perMinute), perDay: shareOf(limits.perDay) } };
  }

  /** At least 1: a limit below the number of instances would otherwise close the service. */
  function shareOf(limit: number): number {
    return Math.max(1, Math.floor(limit / instances));
  }

  /** Counts as used whatever is not this instance's share of the rest, and what it granted in an outage before. */
  function usedOfShare({ floor, units }: Tally, limit: number): number {
    return shareOf(limit) - Math.floor(Math.max(0, limit - floor) / instances) + units;
  }

  /** `held` is the admission of the one unit that the request already holds. */
  async function decide(reservation: Reservation, isCounted: boolean, held?: Admitted): Promise<Decision> {
    const { account, cost, limits } = reservation;
    const { sighting, share } = prepare(account, limits);
    const decided = await (held === undefined
      ? local.reserve(reservation, share)
      : local.extend({ ...reservation, held }, share));
    const decision: Decision = { ...ofAccount(decided, limits), mode: "fallback" };
    if (decision.outcome === "admitted") {
      charge(sighting.minute, decision.minute, cost, isCounted, held?.minute);
      charge(sighting.day, decision.day, cost, isCounted, held?.day);
      return decision;
    }
    // If the shared quota may have refused the extension, it may have given the unit back already.
    if (held !== undefined && !isCounted) {
      takeBack(sighting.minute, held.minute, 1);
      takeBack(sighting.day, held.day, 1);
    }
    // The cost is above this instance's share but within the limit: refuse until the reset, not for ever.
    if (decision.outcome !== "impossible" || cost > Math.min(limits.perMinute, limits.perDay)) return decision;
    return { ...decision, outcome: "refused", by: "minute", retryAtMs: decision.minute.resetAtMs };
  }

  return {
    observe({ account, key }, decision) {
      clock.observe(decision.nowMs);
      const { minute, day, bannedUntilMs, carriedAfter } = sightingOf(account, outages());
      // Until the account is carried back, the answer to a call sent before may know of less than must have been counted.
      const isSettled = carriedAfter === outages();
      see(minute, decision.minute, isSettled);
      see(day, decision.day, isSettled);
      if (key === undefined) return;
      if (decision.outcome !== "banned") {
        // Lifted by another process, or over: it must not come back with the next outage.
        if (bannedUntilMs.delete(key)) void local.liftBan({ account, key });
        return;
      }
      for (const [other, untilMs] of bannedUntilMs) if (untilMs <= decision.nowMs) bannedUntilMs.delete(other);
      bannedUntilMs.set(key, decision.bannedUntilMs);
    },
    reserve: decide,
    extend: ({ held, ...reservation }, isCounted) => decide(reservation, isCounted, held),
    async usage(query) {
      const { share } = prepare(query.account, query.limits);
      return ofAccount(await local.usage({ ...query, limits: share }), query.limits);
    },
    async refund(refund) {
      const { sighting, share } = prepare(refund.account, refund.limits);
      takeBack(sighting.minute, refund.spentIn.minute, refund.cost);
      takeBack(sighting.day, refund.spentIn.day, refund.cost);
      return ofAccount(await local.refund({ ...refund, limits: share }), refund.limits);
    },
    takeCarried(account) {
      const sighting = sightings.get(account);
      if (sighting === undefined) return undefined;
      const { minute, day } = sighting;
      // A unit may have been granted while the outage ended.
      if (sighting.carriedAfter === outages() && minute.units === 0 && day.units === 0) return undefined;
      sighting.carriedAfter = outages();
      return { minute: take(minute), day: take(day) };
    },
    putBack(account, carried) {
      const sighting = sightingOf(account, outages() - 1);
      sighting.carriedAfter = outages() - 1;
      giveBack(sighting.minute, carried.minute);
      giveBack(sighting.day, carried.day);
    },
    async reset(account) {
      const sighting = sightings.get(account);
      if (sighting !== undefined) Object.assign(sighting, { minute: tally(minuteMs), day: tally(dayMs) });
      await local.reset({ account });
    },
    async liftBan(target) {
      sightings.get(target.account)?.bannedUntilMs.delete(target.key);
      await local.liftBan(target);
    },
    async bans() {
      const running = await local.bans();
      const isHere = new Set(running.map(({ account, key }) => `${account} ${key}`));
      for (const [account, { bannedUntilMs }] of sightings.entries()) {
        for (const [key, untilMs] of bannedUntilMs) {
          const isRunning = untilMs > clock.now() && !isHere.has(`${account} ${key}`);
          if (isRunning) running.push({ account, key, bannedUntilMs: untilMs });
        }
      }
      return running;
    },
  };
}

function tally(lengthMs: number): Tally {
  return { lengthMs, startMs: 0, floor: 0, units: 0 };
}

/** The tally of that window, which begins at nothing when it is another one than before. */
function enter(tally: Tally, { resetAtMs }: WindowState): Tally {
  const startMs = resetAtMs - tally.lengthMs;
  return startMs === tally.startMs ? tally : Object.assign(tally, { startMs, floor: 0, units: 0 });
}

function see(tally: Tally, window: WindowState, isSettled: boolean): void {
  const { floor } = enter(tally, window);
  tally.floor = isSettled ? window.used : Math.max(floor, window.used);
}

/** Counts an admission; a unit that is `held` in the same window is counted already. */
function charge(tally: Tally, window: WindowState, cost: number, isCounted: boolean, held?: WindowState): void {
  const { floor, units } = enter(tally, window);
  const charged = cost - (held?.resetAtMs === window.resetAtMs ? Math.min(1, floor + units) : 0);
  if (isCounted) tally.floor += charged;
  else tally.units += charged;
}

function takeBack(tally: Tally, { resetAtMs }: WindowState, units: number): void {
  if (resetAtMs - tally.lengthMs === tally.startMs) tally.units = Math.max(0, tally.units - units);
}

/**
 * The units become part of the floor: should the call that takes them fail without an answer, the next one raises the
 * counter to where it must be, whether they arrived or not.
 */
function take(tally: Tally): CarriedWindow {
  const { startMs, floor, units } = tally;
  tally.floor += units;
  tally.units = 0;
  return { startMs, floor, units };
}

function giveBack(tally: Tally, { startMs, units }: CarriedWindow): void {
  if (startMs !== tally.startMs) return;
  tally.floor -= units;
  tally.units += units;
}

/** Windows of this instance's share, told under the account's limits. */
function ofAccount<Told extends Windows>(windows: Told, { perMinute, perDay }: Limits): Told {
  return { ...windows, minute: underLimit(windows.minute, perMinute), day: underLimit(windows.day, perDay) };
}

function underLimit({ limit: share, used, resetAtMs }: WindowState, limit: number): WindowState {
  return { limit, used: used + limit - share, resetAtMs };
}
