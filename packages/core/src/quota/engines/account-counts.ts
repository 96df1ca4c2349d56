/**
 * What one instance knows of the units that an account has used. Every function returns new counts.
 *
 * These counts are kept for an outage of Redis. After the outage, the known and the owed units are also the *report* that a call
 * carries to Redis. `fallback/fallback-quota.ts` explains the protocol.
 */
import { dayMs, minuteMs, type Windows } from "../window.js";

export interface AccountCounts {
  readonly minute: WindowCounts;
  readonly day: WindowCounts;
}

export interface WindowCounts {
  /** The end of the window, which identifies it. */
  readonly resetAtMs: number;
  /**
   * *Known* units: Redis has reported them as used, or they were in a call that Redis may have executed. Redis counts at least
   * these, unless it lost data or such a call.
   */
  readonly knownUsed: number;
  /** *Owed* units: this instance has granted them alone, and has not reported them to Redis. They are not in `knownUsed`. */
  readonly owedUnits: number;
  /**
   * *Unconfirmed* units: this instance has granted them alone, and no reply of Redis has included them yet. They are in
   * `knownUsed`, because a call that Redis may have executed carried them.
   */
  readonly unconfirmedUnits: number;
  /** *Own* units: Redis has granted them to requests of this instance. They are in `knownUsed`. */
  readonly ownUnits: number;
  /** The own units of the window directly before. */
  readonly ownUnitsBefore: number;
}

const nothingUsed: WindowCounts = {
  resetAtMs: 0,
  knownUsed: 0,
  owedUnits: 0,
  unconfirmedUnits: 0,
  ownUnits: 0,
  ownUnitsBefore: 0,
};

export const noCounts: AccountCounts = { minute: nothingUsed, day: nothingUsed };

/**
 * After a reply of Redis. `grant` is the admission if it admits the request. Owed units stay owed: the reply does not include
 * them.
 */
export function withReply(counts: AccountCounts, reply: Windows, grant: Grant | undefined): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const { used, resetAtMs } = reply[window];
    const current = countsOfWindow(before, window, resetAtMs);
    const granted = grant === undefined ? 0 : grant.cost - heldUnits(window, grant);
    return { ...current, knownUsed: used, unconfirmedUnits: 0, ownUnits: current.ownUnits + granted };
  });
}

/**
 * The own units by which an outage that began at `beganMs` divides the limits: those of the last full minute, and those of the
 * day so far.
 */
export function ownUnitsAt({ minute, day }: AccountCounts, beganMs: number): OwnUnits {
  const minuteResetAtMs = beganMs - (beganMs % minuteMs) + minuteMs;
  const dayResetAtMs = beganMs - (beganMs % dayMs) + dayMs;
  let ofMinute = 0;
  if (minute.resetAtMs === minuteResetAtMs) ofMinute = minute.ownUnitsBefore;
  if (minute.resetAtMs === minuteResetAtMs - minuteMs) ofMinute = minute.ownUnits;
  return { minute: ofMinute, day: day.resetAtMs === dayResetAtMs ? day.ownUnits : 0 };
}

export interface OwnUnits {
  readonly minute: number;
  readonly day: number;
}

/** An admission. */
export interface Grant {
  readonly admitted: Windows;
  readonly cost: number;
  /** If the grant extends the reservation of one unit: the admission of this unit. */
  readonly receipt: Windows | undefined;
}

/** After a grant that Redis does not know of. */
export function withOwedGrant(counts: AccountCounts, grant: Grant): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const current = countsOfWindow(before, window, grant.admitted[window].resetAtMs);
    return { ...current, owedUnits: current.owedUnits + addedUnits(current, window, grant) };
  });
}

/** After a grant whose call got no reply. Redis may have counted its units, so they must not be added later. */
export function withUnansweredGrant(counts: AccountCounts, grant: Grant): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const current = countsOfWindow(before, window, grant.admitted[window].resetAtMs);
    const added = addedUnits(current, window, grant);
    return {
      ...current,
      knownUsed: current.knownUsed + added,
      unconfirmedUnits: current.unconfirmedUnits + added,
    };
  });
}

/** The counts already include the extended unit, unless its window is over or the account was forgotten since. */
function addedUnits({ knownUsed, owedUnits }: WindowCounts, window: Window, grant: Grant): number {
  return grant.cost - Math.min(heldUnits(window, grant), knownUsed + owedUnits);
}

/** The unit that the grant extends, if it is of the same window. */
function heldUnits(window: Window, { admitted, receipt }: Grant): 0 | 1 {
  return receipt?.[window].resetAtMs === admitted[window].resetAtMs ? 1 : 0;
}

/**
 * After a refund that Redis cannot be told of. It lowers the owed units, even if Redis had granted the refunded ones. If fewer
 * units are owed, the rest stays used.
 */
export function withRefund(counts: AccountCounts, receipt: Windows, units: number): AccountCounts {
  return mapWindows(counts, (before, window) => {
    if (before.resetAtMs !== receipt[window].resetAtMs) return before;
    return { ...before, owedUnits: Math.max(0, before.owedUnits - units) };
  });
}

/** When a refund is sent to Redis. Redis may then grant its units to another instance, so they are not own units any more. */
export function withRefundSent(counts: AccountCounts, receipt: Windows, units: number): AccountCounts {
  return mapWindows(counts, (before, window) => {
    if (before.resetAtMs !== receipt[window].resetAtMs) return before;
    return { ...before, ownUnits: Math.max(0, before.ownUnits - units) };
  });
}

/**
 * After a call that carries these counts to Redis. The units are known from now on, whatever becomes of the call: if the reply
 * is lost, Redis may have added them. A later report then raises Redis to this number, and does not add them again.
 */
export function withReportSent(counts: AccountCounts): AccountCounts {
  return mapWindows(counts, (before) => moveToKnown(before, before.owedUnits));
}

/** After an error reply to a call with `report`: Redis added nothing, so the units of the report are owed again. */
export function withOwedAgain(counts: AccountCounts, report: AccountCounts): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const { resetAtMs, owedUnits } = report[window];
    return before.resetAtMs === resetAtMs ? moveToKnown(before, -owedUnits) : before;
  });
}

type Window = "minute" | "day";

function mapWindows(
  { minute, day }: AccountCounts,
  change: (counts: WindowCounts, window: Window) => WindowCounts,
): AccountCounts {
  return { minute: change(minute, "minute"), day: change(day, "day") };
}

/** The counts themselves if they are those of the window that ends at `resetAtMs`, else those of an unused window. */
function countsOfWindow(counts: WindowCounts, window: Window, resetAtMs: number): WindowCounts {
  if (counts.resetAtMs === resetAtMs) return counts;
  const isNext = counts.resetAtMs === resetAtMs - (window === "minute" ? minuteMs : dayMs);
  return { ...nothingUsed, resetAtMs, ownUnitsBefore: isNext ? counts.ownUnits : 0 };
}

function moveToKnown(counts: WindowCounts, units: number): WindowCounts {
  return {
    ...counts,
    knownUsed: counts.knownUsed + units,
    owedUnits: counts.owedUnits - units,
    // After a reply, no unit is unconfirmed.
    unconfirmedUnits: Math.max(0, counts.unconfirmedUnits + units),
  };
}
