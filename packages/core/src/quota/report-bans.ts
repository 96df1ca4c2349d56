/** Logs and counts the bans that a quota begins. */
import type { Log } from "../log.js";
import type { Decision } from "./decision.js";
import type { Quota, Reservation } from "./quota.js";

export interface ReportedQuota extends Quota {
  /** How many bans this process has begun. */
  bansBegun(): number;
}

/** Of all instances that share a Redis, only the one that began a ban reports it. */
export function reportBans<Reported extends Quota>(quota: Reported, log: Log): Reported & ReportedQuota {
  let begun = 0;

  function report({ account, key }: Reservation, decision: Decision): Decision {
    if (decision.outcome === "banned" && decision.beginsBan) {
      begun += 1;
      const bannedUntil = new Date(decision.bannedUntilMs).toISOString();
      log.warn({ account, key, bannedUntil }, "banned a key that continued to call after 429");
    }
    return decision;
  }

  return {
    ...quota,
    reserve: async (reservation) => report(reservation, await quota.reserve(reservation)),
    extend: async (extension) => report(extension, await quota.extend(extension)),
    bansBegun: () => begun,
  };
}
