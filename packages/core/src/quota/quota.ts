import type { Admitted, Decision } from "./decision.js";
import type { Limits } from "./plan.js";
import type { Windows } from "./window.js";

export interface Reservation {
  /** Whose units are spent: an account, or an address that showed no valid key. */
  readonly account: string;
  /** Who is banned for calling on after refusals. Absent: nobody is. */
  readonly key?: string;
  readonly limits: Limits;
  /** Units to spend, all of them or none. A whole number, at least 1. */
  readonly cost: number;
}

/** A reservation of one unit that turns out to need `cost` units. */
export interface Extension extends Reservation {
  /** The admission of the one unit that the request already holds. */
  readonly held: Admitted;
}

export interface UsageQuery {
  readonly account: string;
  readonly key?: string;
  readonly limits: Limits;
}

export interface Usage extends Windows {
  /** When the key's running ban ends; absent when it has none. */
  readonly bannedUntilMs?: number;
}

export interface Refund {
  readonly account: string;
  readonly limits: Limits;
  readonly cost: number;
  /** The windows the units were spent in, as the admission reported them: a later window owes nothing. */
  readonly spentIn: Windows;
}

/** A ban that runs. */
export interface BanRecord {
  readonly account: string;
  readonly key: string;
  readonly bannedUntilMs: number;
}

/**
 * Counts what every account spends in a UTC minute and a UTC day, and bans keys that call on after being refused.
 * One engine lives in this process; others may share their counters between processes. All of them give the same
 * answers to the same calls at the same instants.
 */
export interface Quota {
  /** Spends `cost` in both windows or in neither. Rejects with SERVICE_UNAVAILABLE where it may not decide. */
  reserve(reservation: Reservation): Promise<Decision>;
  /**
   * Changes an admitted reservation from one unit to `cost` units, in one atomic step: gives the held unit back where its
   * window still runs, then reserves `cost`. An admission leaves exactly `cost` units charged in each current window; any
   * other decision leaves none of the request's units charged. When it rejects, it is unknown whether the held unit was
   * given back: do not refund it.
   */
  extend(extension: Extension): Promise<Decision>;
  /** Both windows as they stand, or as they were last seen, spending nothing. */
  usage(query: UsageQuery): Promise<Usage>;
  /** Gives units back to the windows they were spent in, where those still run, and never below zero. */
  refund(refund: Refund): Promise<Windows>;
  /** Ends a key's ban and forgets its strikes and its ban level. */
  liftBan(target: { readonly account: string; readonly key: string }): Promise<void>;
  /** Every ban that runs, in no order. For operators: it looks at all that is counted. */
  bans(): Promise<BanRecord[]>;
  /** Forgets what an account has spent. Bans stay. */
  reset(target: { readonly account: string }): Promise<void>;
}
