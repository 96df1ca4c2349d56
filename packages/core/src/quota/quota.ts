import type { Admitted, Decision } from "./decision.js";
import type { Limits } from "./plan.js";
import type { Windows } from "./window.js";

interface UsageQuery {
  /** An account, or the address of a client without a valid key. */
  readonly account: string;
  /** The lineage of the API key that collects strikes. A rotated key keeps that of its first key. Omit it to disable bans. */
  readonly key?: string;
  readonly limits: Limits;
}

export interface Reservation extends UsageQuery {
  /** Units to reserve, all of them or none. A whole number, at least 1. */
  readonly cost: number;
}

export interface Usage extends Windows {
  /** When the key's running ban ends; absent when it has none. */
  readonly bannedUntilMs?: number;
}

/**
 * Counts the units of every account in a UTC minute and a UTC day, and bans keys that keep calling after refusals. The
 * Redis and the local engine give the same decisions to the same calls at the same instants.
 *
 * - *Reserve* units: count them as used in both windows. A decision is *admitted* if its units were reserved.
 * - *Held* units: the present request has reserved them, and they were not refunded.
 * - *Refund* held units: give them back to the windows that they were reserved in.
 */
export interface Quota {
  /**
   * Reserves `cost` units in both windows or in neither. Rejects with SERVICE_UNAVAILABLE if Redis is unavailable and the
   * configuration does not allow a decision without it.
   */
  reserve(reservation: Reservation): Promise<Decision>;
  /**
   * Changes an admitted reservation from one unit to `cost` units, in one atomic step: gives the held unit back to the windows
   * of `heldIn` that still run, then reserves `cost`. Unless it admits, the request holds no unit. When it rejects, it is
   * unknown whether the held unit was given back: do not refund it.
   */
  extend(extension: Reservation & { readonly heldIn: Admitted }): Promise<Decision>;
  /** Both windows as they are now, or as they were last known. Reserves nothing. */
  usage(query: UsageQuery): Promise<Usage>;
  /** Gives held units back to the windows that `heldIn` reports and that still run, and never below zero. */
  refund(refund: Omit<Reservation, "key"> & { readonly heldIn: Windows }): Promise<Windows>;
  /**
   * Ends a key's ban and forgets its strikes and its ban level, if they began before the lift. So a lift may be applied any
   * number of times.
   */
  liftBan(lift: { readonly account: string; readonly key: string; readonly liftedAgoMs: number }): Promise<void>;
}
