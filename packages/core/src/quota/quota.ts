import type { Admitted, Decision } from "./decision.js";
import type { Limits } from "./plan.js";
import type { Windows } from "./window.js";

interface UsageQuery {
  /** An account, or the address of a client without a valid key. */
  readonly account: string;
  /** The lineage of the API key. Rotated keys keep it, so they share strikes and bans. Without it, nothing is banned. */
  readonly key?: string;
  readonly limits: Limits;
}

export interface Reservation extends UsageQuery {
  /** Units to reserve, all of them or none. A whole number, at least 1. */
  readonly cost: number;
}

export interface Usage extends Windows {
  /** The end of the ban. Absent if the key is not banned now. */
  readonly bannedUntilMs?: number;
}

/**
 * Counts the units of every account in a UTC minute and a UTC day, and bans keys that keep calling after refusals. The
 * Redis and the local engine give the same decisions to the same calls at the same instants.
 *
 * - *Reserve* units: count them as used, in both windows or in neither. A decision is *admitted* if its units were reserved.
 * - *Receipt*: an admitted decision, as the proof of its units and of the windows that they were reserved in.
 * - *Held* units: the present request has reserved them, and they were not refunded.
 * - *Extend* a reservation: raise it from one unit to the cost of the request, when the cost becomes known.
 * - *Refund* held units: give them back to the windows that they were reserved in.
 */
export interface Quota {
  /** Rejects with SERVICE_UNAVAILABLE if Redis is unavailable and `failureMode` is `deny`. */
  reserve(reservation: Reservation): Promise<Decision>;
  /**
   * Raises an admitted reservation from one unit to `cost` units, in one step: all of them or none. The held unit counts towards
   * `cost` in the windows of the receipt that still run. A window that has begun since is charged all `cost` units.
   *
   * If the decision is not admitted, the request still holds its one unit, which paid for the work that found out the cost. If
   * the promise rejects, it holds at least that unit.
   */
  extend(extension: Reservation & { readonly receipt: Admitted }): Promise<Decision>;
  /** Both windows as they are now, or as they were last known. Reserves nothing. */
  usage(query: UsageQuery): Promise<Usage>;
  /** Gives held units back to the windows of the receipt that still run. The used units never fall below zero. */
  refund(refund: Omit<Reservation, "key"> & { readonly receipt: Windows }): Promise<Windows>;
  /** Ends a ban that began before the lift, and forgets the key's strikes and ban level. The call may be repeated. */
  liftBan(lift: { readonly account: string; readonly key: string; readonly liftedAgoMs: number }): Promise<void>;
}
