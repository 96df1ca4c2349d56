/**
 * What one instance knows of the units that an account has used. Every function returns new counts.
 *
 * These counts are kept for an outage of Redis. After the outage they are also the *report* that a call carries to Redis.
 * `fallback/fallback-quota.ts` explains the protocol.
 */
import type { Windows } from "../window.js";

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
}

const nothingUsed: WindowCounts = { resetAtMs: 0, knownUsed: 0, owedUnits: 0 };

export const noCounts: AccountCounts = { minute: nothingUsed, day: nothingUsed };

/** After a reply of Redis. Owed units stay owed: the reply does not include them. */
export function withReply(counts: AccountCounts, reply: Windows): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const { used, resetAtMs } = reply[window];
    return { ...countsOfWindow(before, resetAtMs), knownUsed: used };
  });
}

/** An admission that this instance decided. */
export interface Grant {
  readonly admitted: Windows;
  readonly cost: number;
  /** If the grant extends the reservation of one unit: the admission of this unit. */
  readonly receipt: Windows | undefined;
}

/** After a grant that Redis does not know of. */
export function withOwedGrant(counts: AccountCounts, grant: Grant): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const current = countsOfWindow(before, grant.admitted[window].resetAtMs);
    return { ...current, owedUnits: current.owedUnits + addedUnits(current, window, grant) };
  });
}

/** After a grant whose call got no reply. Redis may have counted its units, so they must not be added later. */
export function withUnansweredGrant(counts: AccountCounts, grant: Grant): AccountCounts {
  return mapWindows(counts, (before, window) => {
    const current = countsOfWindow(before, grant.admitted[window].resetAtMs);
    return { ...current, knownUsed: current.knownUsed + addedUnits(current, window, grant) };
  });
}

/** The counts already include the extended unit, unless its window is over or the account was forgotten since. */
function addedUnits(counts: WindowCounts, window: Window, { cost, receipt }: Grant): number {
  const isSameWindow = receipt?.[window].resetAtMs === counts.resetAtMs;
  const extendedUnits = isSameWindow ? Math.min(1, counts.knownUsed + counts.owedUnits) : 0;
  return cost - extendedUnits;
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

/** The counts themselves if they are those of the window that ends at `resetAtMs`, else none. */
function countsOfWindow(counts: WindowCounts, resetAtMs: number): WindowCounts {
  return counts.resetAtMs === resetAtMs ? counts : { ...nothingUsed, resetAtMs };
}

function moveToKnown({ resetAtMs, knownUsed, owedUnits }: WindowCounts, units: number): WindowCounts {
  return { resetAtMs, knownUsed: knownUsed + units, owedUnits: owedUnits - units };
}
