import { defaultBanPolicy } from "../../src/quota/ban-policy.js";
import type { Admitted, Decision } from "../../src/quota/decision.js";
import { createLastKnownCounts, type Fallback } from "../../src/quota/engines/fallback/last-known-counts.js";
import { createSharedClock } from "../../src/quota/engines/fallback/shared-clock.js";
import type { Reservation } from "../../src/quota/quota.js";
import { dayMs, minuteMs } from "../../src/quota/window.js";

export const midnight = Date.UTC(2031, 4, 14);
export const noon = midnight + dayMs / 2;
const limits = { perMinute: 60, perDay: 1_000 };
export const shop: Reservation = { account: "shop", key: "1", limits, cost: 1 };

/** A stand-in of its own, whose time and outages the test decides. */
export interface FallbackFixture {
  readonly fallback: Fallback;
  readonly clock: { nowMs: number };
  readonly outages: { count: number };
}

export function openFallback({ instances = 2, banPolicy = defaultBanPolicy, capacity = 100 } = {}): FallbackFixture {
  const clock = { nowMs: noon };
  const outages = { count: 0 };
  const options = { clock: createSharedClock(() => clock.nowMs), banPolicy, instances, capacity };
  return { fallback: createLastKnownCounts({ ...options, outages: () => outages.count }), clock, outages };
}

/** What the shared quota answers at noon. */
export function admitted(minuteUsed: number, dayUsed = minuteUsed): Admitted {
  return {
    outcome: "admitted",
    mode: "shared",
    nowMs: noon,
    minute: { limit: 60, used: minuteUsed, resetAtMs: noon + minuteMs },
    day: { limit: 1_000, used: dayUsed, resetAtMs: midnight + dayMs },
  };
}

export async function outcomes(
  fallback: Fallback,
  requests: number,
  reservation = shop,
): Promise<Decision["outcome"][]> {
  const given: Decision["outcome"][] = [];
  for (let request = 0; request < requests; request += 1) {
    given.push((await fallback.reserve(reservation, false)).outcome);
  }
  return given;
}
