/** Reserves, extends and gives back the units of accounts, and counts them for the usage history. */
import type { KeyWithLimits } from "../access/authenticator.js";
import type { Problem } from "../problem.js";
import type { Admitted } from "../quota/decision.js";
import type { Quota, Reservation } from "../quota/quota.js";
import type { Windows } from "../quota/window.js";
import type { CountedAs, UsageCounters, UsagePlace } from "../usage/usage-counters.js";
import type { Bucket, QuotaReport, Verdict } from "./bucket.js";

/**
 * The units of accounts. Every change of them is also counted for the usage history, here and nowhere else, so that the
 * history of a day has as many units as its window:
 *
 * - A reservation counts one unit, an extension the units that it adds, and a refund gives them back.
 * - The units of a request count in the hour of its admission. If an extension charges a new day, its units count in the
 *   hour of the extension, and the unit of the admission stays in the day before.
 * - A refusal with 429 counts as one refused request, whatever the request would have cost. If it refuses an extension, the
 *   unit of the admission still counts.
 *
 * The clock is that of the quota, which also decides when a day begins.
 */
export interface AccountUnits {
  /** Reserves one unit for a request with this key. */
  reserve(key: KeyWithLimits, countedAs: CountedAs): Promise<UnitsVerdict>;
  /** Reserves `cost` units in place of the one that is held. After a refusal, that one is still held. */
  extend(held: HeldUnits, cost: number): Promise<UnitsVerdict>;
  refund(held: HeldUnits): Promise<Windows>;
}

/** The units that a request holds. */
export interface HeldUnits {
  readonly reservation: Reservation;
  readonly admitted: Admitted;
  readonly place: UsagePlace;
  /** How many of them are counted: fewer if the memory of the counters was full. */
  readonly counted: number;
}

type UnitsVerdict =
  | { readonly outcome: "admitted"; readonly held: HeldUnits }
  | { readonly outcome: "refused"; readonly problem: Problem; readonly quota: QuotaReport };

export function createAccountUnits(
  bucket: Bucket,
  quota: Pick<Quota, "refund">,
  counters: Pick<UsageCounters, "addAdmitted" | "addRefused">,
): AccountUnits {
  function count(place: UsagePlace, units: number): number {
    return counters.addAdmitted(place, units) ? units : 0;
  }

  function refuse(refusal: Extract<Verdict, { outcome: "refused" }>, place: Omit<UsagePlace, "atMs">): UnitsVerdict {
    const { problem, quota: report } = refusal;
    if (problem.status === 429) counters.addRefused({ ...place, atMs: report.nowMs });
    return refusal;
  }

  return {
    async reserve(key, countedAs) {
      const reservation = reservationOf(key);
      const verdict = await bucket.reserve(reservation);
      if (verdict.outcome === "refused") return refuse(verdict, { keyId: key.id, countedAs });
      const place = { keyId: key.id, countedAs, atMs: verdict.quota.nowMs };
      return {
        outcome: "admitted",
        held: { reservation, admitted: verdict.quota, place, counted: count(place, reservation.cost) },
      };
    },
    async extend(held, cost) {
      const reservation = { ...held.reservation, cost };
      const verdict = await bucket.reserve(reservation, held.admitted);
      if (verdict.outcome === "refused") return refuse(verdict, held.place);
      const admitted = verdict.quota;
      if (admitted.day.resetAtMs === held.admitted.day.resetAtMs) {
        const counted = held.counted + count(held.place, cost - held.reservation.cost);
        return { outcome: "admitted", held: { ...held, reservation, admitted, counted } };
      }
      const place = { ...held.place, atMs: admitted.nowMs };
      return { outcome: "admitted", held: { reservation, admitted, place, counted: count(place, cost) } };
    },
    async refund(held) {
      const windows = await quota.refund({ ...held.reservation, receipt: held.admitted });
      if (held.counted > 0) count(held.place, -held.counted);
      return windows;
    },
  };
}

/** A rotated key keeps the lineage of its first key, so that a rotation does not end a ban. */
export function reservationOf({ accountId, lineage, limits }: KeyWithLimits): Reservation {
  return { account: `${accountId}`, key: `${lineage}`, limits, cost: 1 };
}
