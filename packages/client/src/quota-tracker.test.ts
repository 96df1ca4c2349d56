import { describe, expect, it } from "vitest";
import { PetStoreError, type PetStoreErrorCode } from "./pet-store-error.js";
import { createQuotaTracker, type QuotaTracker, type QuotaTrackerOptions } from "./quota-tracker.js";
import type { RateLimit } from "./response-headers.js";

interface Fixture {
  readonly tracker: QuotaTracker;
  readonly clock: { nowMs: number };
  /** Runs a request with this result. A success is run seven times, so that eight requests may start together. */
  run(rateLimit: RateLimit | undefined, failure?: PetStoreError): void;
}

function createFixture(options: Partial<QuotaTrackerOptions> = {}): Fixture {
  const clock = { nowMs: 0 };
  const tracker = createQuotaTracker({
    maxConcurrent: 8,
    maxWaitMs: 120_000,
    now: () => clock.nowMs,
    random: () => 0,
    ...options,
  });
  const run: Fixture["run"] = (rateLimit, failure) => {
    for (let times = failure === undefined ? 7 : 1; times > 0; times -= 1) {
      tracker.end(tracker.start(), { rateLimit, failure });
    }
  };
  return { tracker, clock, run };
}

const minute = (remaining: number, reset = 60, limit = 60): RateLimit => ({
  limit,
  remaining,
  reset,
  resetInMs: 60_000,
});
const failure = (code: PetStoreErrorCode, retryAfterMs?: number): PetStoreError =>
  new PetStoreError(code, "", { status: 429, retryAfterMs });

describe("free slots", () => {
  it.each([
    [1, 1],
    [15, 1],
    [16, 2],
    [63, 7],
    [64, 8],
    [1_000, 8],
  ])("%i remaining units allow %i requests in flight", (remaining, slots) => {
    const { tracker, run } = createFixture();
    run(minute(remaining));
    expect(tracker.freeSlots()).toBe(slots);
  });

  it("do not include requests in flight", () => {
    const { tracker, run } = createFixture();
    run(minute(32));
    tracker.start();
    tracker.start();
    tracker.start();
    expect(tracker.freeSlots()).toBe(1);
  });

  it("are one before the first response, and none while the first request is in flight", () => {
    const { tracker } = createFixture();
    expect(tracker.freeSlots()).toBe(1);
    tracker.start();
    expect(tracker.freeSlots()).toBe(0);
  });

  it("start at one and grow by one with each response, at the start and after a pause", () => {
    const { tracker, clock } = createFixture();
    const slotsOfNineRequests = (): number[] =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => {
        const slots = tracker.freeSlots();
        tracker.end(tracker.start(), { rateLimit: minute(64), failure: undefined });
        return slots;
      });
    expect(slotsOfNineRequests()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
    tracker.end(tracker.start(), { rateLimit: undefined, failure: failure("RATE_LIMIT_EXCEEDED", 1_000) });
    clock.nowMs = 1_000;
    expect(slotsOfNineRequests()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
  });

  it("are one again after the first request was aborted", () => {
    const { tracker } = createFixture();
    tracker.end(tracker.start(), undefined);
    expect(tracker.freeSlots()).toBe(1);
  });

  it("are one after the known window has ended", () => {
    const { tracker, clock, run } = createFixture();
    run(minute(60));
    clock.nowMs = 59_999;
    expect(tracker.freeSlots()).toBe(7);
    clock.nowMs = 60_000;
    expect(tracker.freeSlots()).toBe(1);
  });
});

describe("the known window", () => {
  it("keeps the smallest remaining count of one reset time, in any order of responses", () => {
    const { tracker, run } = createFixture();
    run(minute(60));
    const requests = [tracker.start(), tracker.start()];
    run(minute(16));
    for (const request of requests) tracker.end(request, { rateLimit: minute(59), failure: undefined });
    expect(tracker.freeSlots()).toBe(2);
  });

  it("is replaced at a later reset time, and ignores late responses of the window before", () => {
    const { tracker, run } = createFixture();
    run(minute(60));
    const slow = tracker.start();
    run(minute(64, 120));
    expect(tracker.freeSlots()).toBe(7);
    tracker.end(slow, { rateLimit: minute(8, 60), failure: undefined });
    expect(tracker.freeSlots()).toBe(8);
  });

  it("is replaced at an earlier reset time by a request that started later: the plan changed", () => {
    const { tracker, run } = createFixture();
    run(minute(8, 86_400, 1_000));
    expect(tracker.freeSlots()).toBe(1);
    run(minute(299, 120, 300));
    expect(tracker.freeSlots()).toBe(8);
  });

  it("is replaced when a request that started later reports another limit", () => {
    const { tracker, run } = createFixture();
    run(minute(8));
    run(minute(247, 60, 300));
    expect(tracker.freeSlots()).toBe(8);
  });
});

describe("a pause", () => {
  it("lasts until the reset when no units remain, to the millisecond, then allows one probe", () => {
    const { tracker, clock, run } = createFixture();
    run(minute(0));
    expect([tracker.freeSlots(), tracker.pauseRemainingMs()]).toEqual([0, 60_000]);
    clock.nowMs = 59_999;
    expect(tracker.freeSlots()).toBe(0);
    clock.nowMs = 60_000;
    expect([tracker.freeSlots(), tracker.pauseRemainingMs()]).toEqual([1, 0]);
  });

  it("lasts from a 429 until its Retry-After, even if other responses arrive", () => {
    const { tracker, clock, run } = createFixture();
    run(minute(64));
    const late = tracker.start();
    run(minute(0, 60), failure("RATE_LIMIT_EXCEEDED", 61_000));
    tracker.end(late, { rateLimit: minute(1), failure: undefined });
    clock.nowMs = 60_999;
    expect(tracker.freeSlots()).toBe(0);
    clock.nowMs = 61_000;
    expect(tracker.freeSlots()).toBe(1);
    tracker.start();
    expect(tracker.freeSlots()).toBe(0);
  });

  it("follows the later Retry-After of two 429 responses", () => {
    const { tracker, run } = createFixture();
    const other = tracker.start();
    run(undefined, failure("RATE_LIMIT_EXCEEDED", 30_000));
    tracker.end(other, { rateLimit: undefined, failure: failure("RATE_LIMIT_EXCEEDED", 10_000) });
    expect(tracker.pauseRemainingMs()).toBe(30_000);
  });

  it("doubles with each failed probe while the service is unavailable, up to 30 s", () => {
    const { tracker, clock, run } = createFixture({ random: () => 0.999 });
    run(minute(64));
    const together = [tracker.start(), tracker.start(), tracker.start()];
    for (const request of together) tracker.end(request, { rateLimit: undefined, failure: failure("NETWORK_ERROR") });
    const pauseSeconds: number[] = [];
    for (let probe = 0; probe < 7; probe += 1) {
      pauseSeconds.push(Math.ceil(tracker.pauseRemainingMs() / 1_000));
      clock.nowMs += tracker.pauseRemainingMs();
      run(undefined, failure("NETWORK_ERROR"));
    }
    expect(pauseSeconds).toEqual([1, 2, 4, 8, 16, 30, 30]);
    clock.nowMs += tracker.pauseRemainingMs();
    run(minute(64));
    run(undefined, failure("NETWORK_ERROR"));
    expect(Math.ceil(tracker.pauseRemainingMs() / 1_000)).toBe(1);
  });
});

describe("the circuit", () => {
  it.each([
    ["API_KEY_BANNED", 1_000, true],
    ["API_KEY_BANNED", 3_600_000, true],
    ["RATE_LIMIT_EXCEEDED", 61_000, false],
    ["DAILY_QUOTA_EXCEEDED", 120_000, false],
    ["DAILY_QUOTA_EXCEEDED", 120_001, true],
  ] as const)("after %s with Retry-After of %i ms is open: %s", (code, retryAfterMs, isOpen) => {
    const { tracker, clock, run } = createFixture();
    const refusal = failure(code, retryAfterMs);
    run(undefined, refusal);
    expect(tracker.circuitError()).toBe(isOpen ? refusal : undefined);
    clock.nowMs = retryAfterMs;
    expect(tracker.circuitError()).toBeUndefined();
    expect(tracker.freeSlots()).toBe(1);
  });

  it("stays closed during a later pause that is short enough to wait for", () => {
    const { tracker, clock, run } = createFixture();
    run(undefined, failure("API_KEY_BANNED", 60_000));
    clock.nowMs = 60_000;
    run(minute(0, 120), undefined);
    expect(tracker.pauseRemainingMs()).toBe(60_000);
    expect(tracker.circuitError()).toBeUndefined();
  });
});
