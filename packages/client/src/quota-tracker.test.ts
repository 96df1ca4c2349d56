import { describe, expect, it } from "vitest";
import { PetStoreError, type PetStoreErrorCode } from "./pet-store-error.js";
import { createQuotaTracker } from "./quota-tracker.js";
import type { RateLimit } from "./response-headers.js";

function open(random = 0, maxWaitMs = 120_000) {
  const clock = { nowMs: 0 };
  const now = () => clock.nowMs;
  const tracker = createQuotaTracker({ maxConcurrent: 8, maxWaitMs, now, random: () => random });
  const succeed = (request: number, rateLimit?: RateLimit) => tracker.end(request, { rateLimit, failure: undefined });
  const fail = (request: number, failure: PetStoreError, rateLimit?: RateLimit) =>
    tracker.end(request, { rateLimit, failure });
  /** Runs seven requests with this result, so that eight may start together. */
  const run = (rateLimit?: RateLimit) => {
    for (let times = 0; times < 7; times += 1) succeed(tracker.start(), rateLimit);
  };
  return { tracker, clock, slots: tracker.freeSlots, succeed, fail, run };
}

const resetInMs = 60_000;
const minute = (remaining: number, reset = 60, limit = 60): RateLimit => ({ limit, remaining, reset, resetInMs });
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
    [undefined, 8],
  ])("%s remaining units allow %i requests in flight", (remaining, expected) => {
    const { slots, run, tracker } = open();
    run(remaining === undefined ? undefined : minute(remaining));
    expect(slots()).toBe(expected);
    tracker.start();
    expect(slots()).toBe(expected - 1);
  });

  it("start at one and grow by one with each response, at the start and after a pause", () => {
    const { slots, succeed, fail, tracker, clock } = open();
    const slotsOfNineRequests = () =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => {
        const free = slots();
        succeed(tracker.start(), minute(64));
        return free;
      });
    expect(slotsOfNineRequests()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
    fail(tracker.start(), failure("RATE_LIMIT_EXCEEDED", 1_000));
    clock.nowMs = 1_000;
    expect(slotsOfNineRequests()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
  });

  it("grow after a pause only with responses to requests that started after it", () => {
    const { slots, run, succeed, fail, tracker, clock } = open();
    run(minute(64));
    const [refused, late, slow] = [tracker.start(), tracker.start(), tracker.start()];
    fail(refused, failure("RATE_LIMIT_EXCEEDED", 1_000));
    succeed(late, minute(64));
    clock.nowMs = 1_000;
    // The slow request does not delay the probe.
    expect(slots()).toBe(1);
    succeed(tracker.start(), minute(64));
    succeed(slow, minute(64));
    expect(slots()).toBe(2);
  });

  it("are one after the known window has ended", () => {
    const { slots, run, clock } = open();
    run(minute(60));
    clock.nowMs = 59_999;
    expect(slots()).toBe(7);
    clock.nowMs = 60_000;
    expect(slots()).toBe(1);
  });
});

describe("the known window", () => {
  it.each([
    ["keeps the smallest remaining count of one reset time, in any order of responses", minute(16), minute(59), 2],
    ["is replaced at a later reset time, and ignores late responses before it", minute(64, 120), minute(8, 60), 8],
  ])("%s", (_title, newer, late, expected) => {
    const { slots, run, succeed, tracker } = open();
    run(minute(60));
    const slow = tracker.start();
    run(newer);
    succeed(slow, late);
    expect(slots()).toBe(expected);
  });

  it.each([
    ["an earlier reset time", minute(299, 120, 300)],
    ["another limit", minute(247, 86_400, 300)],
  ])("is replaced when a request that started later reports %s: the plan changed", (_what, changed) => {
    const { slots, run } = open();
    run(minute(8, 86_400, 1_000));
    expect(slots()).toBe(1);
    run(changed);
    expect(slots()).toBe(8);
  });
});

describe("a pause", () => {
  it.each([
    [59_999, 0],
    [60_000, 60_250],
  ])("with maxWaitMs of %d and no units lasts %i ms: half a second after the reset at most", (maxWaitMs, expected) => {
    const { slots, succeed, tracker, clock } = open(0.5, maxWaitMs);
    succeed(tracker.start(), minute(0));
    expect([tracker.pauseRemainingMs(), slots()]).toEqual([expected, expected === 0 ? 1 : 0]);
    clock.nowMs = expected;
    expect([tracker.pauseRemainingMs(), slots()]).toEqual([0, 1]);
  });

  it("is never reported as longer than the longest timer", () => {
    const { fail, tracker } = open(0, Infinity);
    fail(tracker.start(), failure("SERVICE_UNAVAILABLE", 2 ** 31));
    expect(tracker.pauseRemainingMs()).toBe(2 ** 31 - 1);
  });

  it("lasts from a 429 until the latest Retry-After, even if other responses arrive", () => {
    const { slots, run, succeed, fail, tracker, clock } = open();
    run(minute(64));
    const [refused, late] = [tracker.start(), tracker.start()];
    fail(tracker.start(), failure("RATE_LIMIT_EXCEEDED", 61_000), minute(0, 60));
    fail(refused, failure("RATE_LIMIT_EXCEEDED", 10_000));
    succeed(late, minute(1));
    clock.nowMs = 60_999;
    expect(slots()).toBe(0);
    clock.nowMs = 61_000;
    expect(slots()).toBe(1);
  });

  it.each(["NETWORK_ERROR", "RATE_LIMIT_EXCEEDED"] as const)(
    "doubles with each probe that fails with %s and without Retry-After, up to 30 s",
    (code) => {
      const { run, fail, tracker, clock } = open(0.999);
      run(minute(64));
      for (const request of [tracker.start(), tracker.start(), tracker.start()]) fail(request, failure(code));
      const pauseSeconds: number[] = [];
      for (let probe = 0; probe < 7; probe += 1) {
        pauseSeconds.push(Math.ceil(tracker.pauseRemainingMs() / 1_000));
        clock.nowMs += tracker.pauseRemainingMs();
        fail(tracker.start(), failure(code));
      }
      expect(pauseSeconds).toEqual([1, 2, 4, 8, 16, 30, 30]);
      clock.nowMs += tracker.pauseRemainingMs();
      run(minute(64));
      fail(tracker.start(), failure(code));
      expect(Math.ceil(tracker.pauseRemainingMs() / 1_000)).toBe(1);
    },
  );
});

describe("the circuit", () => {
  it.each([
    ["API_KEY_BANNED", 1_000, true],
    ["RATE_LIMIT_EXCEEDED", 61_000, false],
    ["DAILY_QUOTA_EXCEEDED", 120_000, false],
    ["DAILY_QUOTA_EXCEEDED", 120_001, true],
    ["SERVICE_UNAVAILABLE", 120_001, true],
  ] as const)("after %s with Retry-After of %i ms is open: %s", (code, retryAfterMs, isOpen) => {
    // With this random number the pause after a 429 ends later than the circuit: a call at the error's `retryAt` waits.
    const { fail, tracker, clock } = open(0.5);
    const refusal = failure(code, retryAfterMs);
    fail(tracker.start(), refusal);
    expect(tracker.circuitError()).toBe(isOpen ? refusal : undefined);
    clock.nowMs = retryAfterMs;
    expect(tracker.circuitError()).toBeUndefined();
    fail(tracker.start(), refusal);
    expect(tracker.circuitError()).toBe(isOpen ? refusal : undefined);
  });
});
