import { defaultBanPolicy } from "../../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../../src/quota/decision.js";
import { createLastKnownCounts, type LastKnownCounts } from "../../../src/quota/engines/fallback/last-known-counts.js";
import type { Reservation } from "../../../src/quota/quota.js";
import { minuteMs } from "../../../src/quota/window.js";
import { noon, tomorrow } from "../caller.js";

export const shop: Reservation = { account: "shop", key: "1", limits: { perMinute: 60, perDay: 1_000 }, cost: 1 };

/**
 * The counts of one instance in its first outage. The test sets its clock and the number of outages. Before the outage, at
 * noon, Redis reported that the account `shop` had used `known` units.
 */
export function openInOutage({ known = 0, instances = 2, banPolicy = defaultBanPolicy, capacity = 100 } = {}) {
  const clock = { nowMs: noon };
  const outages = { count: 0 };
  const options = { now: () => clock.nowMs, banPolicy, instances, capacity };
  const counts = createLastKnownCounts({ ...options, currentOutage: () => outages.count });
  if (known > 0) counts.observe(shop, admitted(known));
  outages.count = 1;
  return { counts, clock, outages };
}

/** An admission by Redis at noon. */
export function admitted(minuteUsed: number, dayUsed = minuteUsed): Admitted {
  return {
    outcome: "admitted",
    mode: "shared",
    nowMs: noon,
    minute: { limit: 60, used: minuteUsed, resetAtMs: noon + minuteMs },
    day: { limit: 1_000, used: dayUsed, resetAtMs: tomorrow },
  };
}

export function outcomes(counts: LastKnownCounts, requests: number, reservation = shop): Decision["outcome"][] {
  return Array.from({ length: requests }, () => counts.decide(reservation, false).outcome);
}

/** The units that are granted to more requests than any limit. Each request has a key of its own, so none is banned. */
export function grants(counts: LastKnownCounts, reservation = shop): number {
  const keys = Array.from({ length: 150 }, (_, index) => `${index}`);
  const decided = keys.map((key) => counts.decide({ ...reservation, key }, false).outcome);
  return decided.filter((outcome) => outcome === "admitted").length;
}
