import { gather } from "../../gather.js";
import type { Decision } from "../decision.js";
import type { Quota, Reservation, UsageQuery } from "../quota.js";

/** Decides a reservation so many times, one after the other. */
export type ReserveTimes = (reservation: Reservation, times: number) => Promise<readonly Decision[]>;

/** Reservations that are alike, and made in one turn of the event loop, are decided by one call. */
export function reserveTogether(reserveTimes: ReserveTimes): Quota["reserve"] {
  return gather(
    (reservation) => `${kindOf(reservation)} ${reservation.cost}`,
    (alike) => reserveTimes(alike[0], alike.length),
  );
}

/** Questions that are alike, and asked in one turn of the event loop, have one answer: many are turned away at once. */
export function lookTogether(look: Quota["usage"]): Quota["usage"] {
  return gather(kindOf, async (alike) => {
    const usage = await look(alike[0]);
    return alike.map(() => usage);
  });
}

function kindOf({ account, key, limits }: UsageQuery): string {
  return `${account} ${key} ${limits.perMinute} ${limits.perDay}`;
}
