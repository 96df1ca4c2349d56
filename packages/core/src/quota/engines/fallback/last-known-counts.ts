/**
 * The quota of one instance while Redis is unavailable, and what the instance reports to Redis afterwards. `fallback-quota.ts`
 * explains the protocol, and when each function is called.
 *
 * A local quota decides. It counts against this instance's *share* of the limits (`share.ts`). At the first decision about an
 * account in an outage, its used units are set so that it grants this instance's share of the units that Redis last had left.
 * In a window that begins during the outage, it grants the share of the whole limit.
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
import { dayMs, minuteMs, type UsedUnits, type WindowState, type Windows } from "../../window.js";
import {
  type AccountCounts,
  type Grant,
  noCounts,
  type OwnUnits,
  ownUnitsAt,
  type WindowCounts,
  withOwedAgain,
  withOwedGrant,
  withRefund,
  withRefundSent,
  withReply,
  withReportSent,
  withUnansweredGrant,
} from "../account-counts.js";
import { createLocalQuota } from "../local-quota.js";
import type { Outage } from "./breakers.js";
import { type Division, type DrawLot, shareOfLimit, shareOfRest } from "./share.js";

export interface LastKnownCountsOptions {
  /** The clock of this machine, in whole epoch milliseconds. */
  readonly now: () => number;
  readonly banPolicy: BanPolicy;
  /** The number of instances that share the limits. */
  readonly instances: number;
  readonly drawLot: DrawLot;
  /** The last outage of the account. From each on, the account owes Redis a report, and its share is computed anew. */
  readonly lastOutageOf: (account: string) => Outage;
}

/** Results show the account's limits. `used` is set so that this instance may still grant `limit - used`. */
export interface LastKnownCounts extends Pick<Quota, "usage" | "refund" | "liftBan">, Penalties {
  /** The clock of Redis: the clock of this machine, corrected by the last reply. */
  now(): number;
  /**
   * Keeps the counts and the ban of a decision of Redis, which extends the admission of `receipt`, if there is one. Do not call
   * it if an outage began before the reply: the reply does not include the units that this instance has granted since.
   */
  observe(reservation: Reservation, decision: Decision, receipt?: Admitted): void;
  /**
   * Returns the report that the next call about the account must carry to Redis, or `undefined` if the account owes none. The
   * account then owes no report, because only another outage adds units.
   */
  takeReport(account: string): AccountCounts | undefined;
  /**
   * Redis replied with an error to the call that carried the report, so it added nothing: the units are owed again. The error
   * has begun an outage, so the account owes a report again, too.
   */
  oweAgain(account: string, report: AccountCounts): void;
  /** Call it when a refund is sent to Redis: the units of the refund are not own units any more. */
  observeRefund(refund: Parameters<Quota["refund"]>[0]): void;
  /** Decides a reservation that Redis has not counted. With `receipt`, extends the admission of one unit. */
  decide(reservation: Reservation, receipt?: Admitted): Decision;
  /** Decides a reservation that was sent to Redis without a reply. If it is admitted, its units count as reported. */
  decideUnanswered(reservation: Reservation, receipt?: Admitted): Decision;
}

interface Account {
  counts: AccountCounts;
  /** By these, the outage divides the limits. They are set when the share is computed. */
  ownUnits: OwnUnits;
  /** Its last outage when it last owed Redis no report: the report was sent, or Redis made the first decision. */
  settledIn: Outage | undefined;
  /** Its last outage when the local quota last computed its share. */
  seededIn: Outage | undefined;
}

const capacity = 100_000;

export function createLastKnownCounts(options: LastKnownCountsOptions): LastKnownCounts {
  const { banPolicy, instances, drawLot, lastOutageOf } = options;
  let clockOffsetMs = 0;
  const now = () => options.now() + clockOffsetMs;
  const accounts = createLruCache<Account>(capacity);
  const local = createLocalQuota({ now, banPolicy, capacity });

  /** A new account counts as settled if its first decision is one of Redis. */
  function observedAccount(name: string): Account {
    const known = accounts.get(name);
    if (known !== undefined) return known;
    const account = addAccount(name);
    account.settledIn = lastOutageOf(name);
    return account;
  }

  function seededAccount(name: string, limits: Limits): Account {
    const account = accounts.get(name) ?? addAccount(name);
    const outage = lastOutageOf(name);
    if (account.seededIn !== outage) {
      account.seededIn = outage;
      account.ownUnits = ownUnitsAt(account.counts, outage.beganMs + clockOffsetMs);
      const { counts, ownUnits } = account;
      const share = shareOf(name, account, limits);
      local.seed(name, {
        minute: usedOfShare(counts.minute, share.perMinute, divisionOf(limits.perMinute, ownUnits.minute)),
        day: usedOfShare(counts.day, share.perDay, divisionOf(limits.perDay, ownUnits.day)),
      });
    }
    return account;
  }

  function addAccount(name: string): Account {
    const account: Account = {
      counts: noCounts,
      ownUnits: { minute: 0, day: 0 },
      settledIn: undefined,
      seededIn: undefined,
    };
    accounts.set(name, account);
    return account;
  }

  /** In the present minute and day. */
  function shareOf(name: string, { ownUnits }: Account, { perMinute, perDay }: Limits): Limits {
    const nowMs = now();
    return {
      perMinute: shareOfLimit(divisionOf(perMinute, ownUnits.minute), () => drawLot(name, nowMs - (nowMs % minuteMs))),
      perDay: shareOfLimit(divisionOf(perDay, ownUnits.day), () => drawLot(name, nowMs - (nowMs % dayMs))),
    };
  }

  function divisionOf(limit: number, ownUnits: number): Division {
    return { limit, instances, ownUnits };
  }

  /**
   * Chooses `used` so that the local quota may still grant this instance's share of the units left in Redis, less the units
   * that it has granted already: `share - used = shareOfRest - owedUnits - unconfirmedUnits`. The unconfirmed units do not
   * lower the rest that is shared. Otherwise, each further outage would grant a share of what the last one left.
   */
  function usedOfShare(counts: WindowCounts, share: number, division: Division): UsedUnits {
    const { resetAtMs, knownUsed, owedUnits, unconfirmedUnits } = counts;
    const rest = shareOfRest(division, knownUsed - unconfirmedUnits);
    return { used: share - rest + owedUnits + unconfirmedUnits, resetAtMs };
  }

  function decideFromShare(
    reservation: Reservation,
    receipt: Admitted | undefined,
    countGrant: (counts: AccountCounts, grant: Grant) => AccountCounts,
  ): Decision {
    const { cost, limits } = reservation;
    const account = seededAccount(reservation.account, limits);
    const ofShare = local.decide(reservation, shareOf(reservation.account, account, limits), receipt);
    const decision: Decision = { ...withAccountLimits(ofShare, limits), mode: "fallback" };
    if (decision.outcome === "admitted") {
      account.counts = countGrant(account.counts, { admitted: decision, cost, receipt });
    }
    const isOnlyAboveShare = decision.outcome === "impossible" && cost <= Math.min(limits.perMinute, limits.perDay);
    return isOnlyAboveShare ? refusedByShare(decision, cost) : decision;
  }

  return {
    now,
    observe({ account: name, key, cost }, decision, receipt) {
      clockOffsetMs = decision.nowMs - options.now();
      const account = observedAccount(name);
      const grant = decision.outcome === "admitted" ? { admitted: decision, cost, receipt } : undefined;
      account.counts = withReply(account.counts, decision, grant);
      if (key !== undefined) local.adoptBan(name, key, decision);
    },
    takeReport(name) {
      const account = accounts.get(name);
      const outage = lastOutageOf(name);
      if (account === undefined || account.settledIn === outage) return undefined;
      account.settledIn = outage;
      const report = account.counts;
      account.counts = withReportSent(report);
      return report;
    },
    oweAgain(name, report) {
      const account = accounts.get(name);
      if (account !== undefined) account.counts = withOwedAgain(account.counts, report);
    },
    observeRefund({ account: name, cost, receipt }) {
      const account = accounts.get(name);
      if (account !== undefined) account.counts = withRefundSent(account.counts, receipt, cost);
    },
    decide: (reservation, receipt) => decideFromShare(reservation, receipt, withOwedGrant),
    decideUnanswered: (reservation, receipt) => decideFromShare(reservation, receipt, withUnansweredGrant),
    async usage(query) {
      const { account: name, limits } = query;
      const share = shareOf(name, seededAccount(name, limits), limits);
      return withAccountLimits(await local.usage({ ...query, limits: share }), limits);
    },
    async refund(refund) {
      const { account: name, limits, cost, receipt } = refund;
      const account = seededAccount(name, limits);
      account.counts = withRefund(account.counts, receipt, cost);
      const share = shareOf(name, account, limits);
      return withAccountLimits(await local.refund({ ...refund, limits: share }), limits);
    },
    liftBan: local.liftBan,
    penalties: local.penalties,
    bans: local.bans,
  };
}

/** A cost above the share is not impossible: Redis knows the whole limit, so it may admit the request later. */
function refusedByShare(decision: Windows, cost: number): Decision {
  // One window refuses. The default only satisfies the type.
  const by = refusingWindow(decision, cost) ?? "minute";
  const { nowMs, minute, day } = decision;
  return { outcome: "refused", mode: "fallback", nowMs, minute, day, by, retryAtMs: decision[by].resetAtMs };
}

/** Replaces the shares by the limits of the account. The units left stay the same, because `used` rises too. */
function withAccountLimits<Reported extends Windows>(windows: Reported, { perMinute, perDay }: Limits): Reported {
  return { ...windows, minute: withLimit(windows.minute, perMinute), day: withLimit(windows.day, perDay) };
}

function withLimit({ limit: share, used, resetAtMs }: WindowState, limit: number): WindowState {
  return { limit, used: used + limit - share, resetAtMs };
}
