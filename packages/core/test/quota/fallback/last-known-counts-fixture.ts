import { defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import { createLastKnownCounts, type LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import type { AccountCounters } from "../../../src/quota/engines/reserve-script.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { dayMs, minuteMs } from "../../../src/quota/window.js";

export const midnight = Date.UTC(2031, 4, 14);
export const noon = midnight + dayMs / 2;
const limits = { perMinute: 60, perDay: 1_000 };
export const shop: Reservation = { account: "shop", key: "1", limits, cost: 1 };

/** The counts of one instance. The test sets its clock and the number of outages. */
export interface CountsFixture {
  readonly counts: LastKnownCounts;
  readonly clock: { nowMs: number };
  readonly outages: { count: number };
}

export function openCounts({ instances = 2, banPolicy = defaultBanPolicy, capacity = 100 } = {}): CountsFixture {
  const clock = { nowMs: noon };
  const outages = { count: 0 };
  const options = { now: () => clock.nowMs, banPolicy, instances, capacity };
  return { counts: createLastKnownCounts({ ...options, currentOutage: () => outages.count }), clock, outages };
}

/** An admission by Redis at noon. */
export function admitted(minuteUsed: number, dayUsed = minuteUsed): Admitted {
  return {
    outcome: "admitted",
    mode: "shared",
    nowMs: noon,
    minute: { limit: 60, used: minuteUsed, resetAtMs: noon + minuteMs },
    day: { limit: 1_000, used: dayUsed, resetAtMs: midnight + dayMs },
  };
}

/** The same counts in the minute that begins at noon and in its day. */
export function unsynced(lastKnownUsed: number, unsyncedUnits: number): AccountCounters {
  return {
    minute: { resetAtMs: noon + minuteMs, lastKnownUsed, unsyncedUnits },
    day: { resetAtMs: midnight + dayMs, lastKnownUsed, unsyncedUnits },
  };
}

export function outcomes(counts: LastKnownCounts, requests: number, reservation = shop): Decision["outcome"][] {
  const decided: Decision["outcome"][] = [];
  for (let request = 0; request < requests; request += 1) {
    decided.push(counts.decide(reservation, false).outcome);
  }
  return decided;
}
