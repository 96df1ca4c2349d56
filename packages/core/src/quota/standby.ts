/**
 * What stands in for the shared quota while it is away. It starts from the counters last seen in its replies and grants
 * this instance's share of what was left of each window, so that all instances together grant what the shared one would
 * have; in a window that begins during the outage, its share of the limit. What it grants is carried back afterwards,
 * together with what the shared quota is known to have counted, in case it comes back without its memory.
 */
import { createLruCache } from "../lru-cache.js";
import type { BanPolicy } from "./ban-policy.js";
import type { Decision } from "./decision.js";
import { createLocalQuota } from "./local-quota.js";
import type { Limits } from "./plan.js";
import type { BanRecord, Refund, Reservation, Usage, UsageQuery } from "./quota.js";
import type { Carried, CarriedWindow } from "./redis-quota.js";
import type { SharedClock } from "./shared-clock.js";
import { dayMs, minuteMs, type WindowState, type Windows } from "./window.js";

export interface StandbyOptions {
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
export interface Standby {
  /** Remembers what the shared quota answered. */
  observe(reservation: Reservation, decision: Decision): void;
  /** Decides in the shared quota's place; `isCounted` when that has counted the units, or may have. */
  reserve(reservation: Reservation, isCounted: boolean): Promise<Decision>;
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

export function createStandby({ clock, banPolicy, instances, capacity, outages }: StandbyOptions): Standby {
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

  /** Readies the local engine for an account, once an outage. */
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

  /** Never nothing: a limit below the number of instances would otherwise close the service. */
  function shareOf(limit: number): number {
    return Math.max(1, Math.floor(limit / instances));
  }

  /** Counts as used whatever is not this instance's share of the rest, and what it granted in an outage before. */
  function usedOfShare({ floor, units }: Tally, limit: number): number {
    return shareOf(limit) - Math.floor(Math.max(0, limit - floor) / instances) + units;
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
    async reserve(reservation, isCounted) {
      const { account, cost, limits } = reservation;
      const { sighting, share } = prepare(account, limits);
      const decision = ofAccount(await local.reserve({ ...reservation, limits: share }), limits);
      if (decision.outcome === "admitted") {
        for (const tally of [enter(sighting.minute, decision.minute), enter(sighting.day, decision.day)]) {
          if (isCounted) tally.floor += cost;
          else tally.units += cost;
        }
      }
      // More than a share, but not more than the account's own limit: later, not never.
      const isPossible = cost <= limits.perMinute && cost <= limits.perDay;
      if (decision.outcome !== "impossible" || !isPossible) return decision;
      return { ...decision, outcome: "refused", by: "minute", retryAtMs: decision.minute.resetAtMs };
    },
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
