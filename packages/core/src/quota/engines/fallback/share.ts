/**
 * How many units an instance may grant by itself while Redis is unavailable.
 *
 * Instances do not know each other, so the rule divides a limit by what each instance knows: its own units. The share follows
 * the account: an instance that served all requests of an account continues to do so, and instances that served it equally get
 * equal shares.
 *
 * - The share of a limit is 1 / n of it for n instances, or the own units of the instance if they are more. Own units are those
 *   that Redis granted to this instance before the outage: for the minute limit in the last full minute, for the day limit on
 *   that day.
 * - The share of the units that Redis has left is in proportion: 1 / n of them, or own units / limit of them if this is more.
 * - If the share of a limit is less than one unit, the instance has one unit in some windows and none in the others. A lot
 *   decides, so that all instances together have the limit on average.
 *
 * Example with a limit of 60 and 3 instances. In the last full minute, A served all 60 units, or each served 20, or A served 30
 * and no other instance saw the account:
 *
 * | own units | shares of the limit | share of A if Redis has 40 left |
 * |---|---|---|
 * | 60, 0, 0 | 60, 20, 20 | 40 |
 * | 20, 20, 20 | 20, 20, 20 | 13 |
 * | 30, 0, 0 | 30, 20, 20 | 20 |
 *
 * Why own units are divided by the limit: together they are at most the limit, however old the knowledge of an instance is, so
 * the shares are at most limit x (2 - 1/n). Divided by the units that the instance knows of, they would have no such bound: each
 * instance that saw an account early has served most of the units that it knows of. The operations guide has the bounds.
 */
import { hash } from "node:crypto";

export interface Division {
  readonly limit: number;
  readonly instances: number;
  /** Of the last full minute, or of the day. */
  readonly ownUnits: number;
}

/** A number from 0 to less than 1 that differs from window to window and from instance to instance. */
export type DrawLot = (account: string, windowStartMs: number) => number;

/** The units of a window in which Redis has granted none. `lot` is drawn only if the share is less than one unit. */
export function shareOfLimit({ limit, instances, ownUnits }: Division, lot: () => number): number {
  const share = Math.max(Math.floor(limit / instances), Math.min(ownUnits, limit));
  if (share > 0) return share;
  return lot() < limit / instances ? 1 : 0;
}

/** The units of a window in which Redis has granted `knownUsed`. */
export function shareOfRest({ limit, instances, ownUnits }: Division, knownUsed: number): number {
  const rest = limit - knownUsed;
  return Math.max(Math.floor(rest / instances), Math.floor((rest * Math.min(ownUnits, limit)) / limit));
}

/** `instanceId` must differ from those of all other instances. The same window always gets the same lot. */
export function createLots(instanceId: string): DrawLot {
  return (account, windowStartMs) => {
    const digits = hash("sha256", `${instanceId} ${account} ${windowStartMs}`, "hex").slice(0, 8);
    return Number.parseInt(digits, 16) / 2 ** 32;
  };
}
