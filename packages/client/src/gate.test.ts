import { describe, expect, it } from "vitest";
import type { RateLimit } from "./answer-headers.js";
import { createGate, type Gate, type GateOptions } from "./gate.js";
import { PetStoreError, type PetStoreErrorCode } from "./pet-store-error.js";

interface Scene {
  readonly gate: Gate;
  readonly clock: { nowMs: number };
  /** Starts a request and ends it with these news; seven times, where they are good, so that eight may start at once. */
  ask(rateLimit: RateLimit | undefined, failure?: PetStoreError): void;
}

function openScene(options: Partial<GateOptions> = {}): Scene {
  const clock = { nowMs: 0 };
  const gate = createGate({
    maxConcurrent: 8,
    maxWaitMs: 120_000,
    now: () => clock.nowMs,
    random: () => 0,
    ...options,
  });
  const ask: Scene["ask"] = (rateLimit, failure) => {
    for (let times = failure === undefined ? 7 : 1; times > 0; times -= 1)
      gate.end(gate.start(), { rateLimit, failure });
  };
  return { gate, clock, ask };
}

const minute = (remaining: number, reset = 60, limit = 60): RateLimit => ({
  limit,
  remaining,
  reset,
  resetInMs: 60_000,
});
const failure = (code: PetStoreErrorCode, retryAfterMs?: number): PetStoreError =>
  new PetStoreError(code, "", { status: 429, retryAfterMs });

describe("how many may start", () => {
  it.each([
    [1, 1],
    [15, 1],
    [16, 2],
    [63, 7],
    [64, 8],
    [1_000, 8],
  ])("with %i units left: %i at once", (remaining, free) => {
    const { gate, ask } = openScene();
    ask(minute(remaining));
    expect(gate.free()).toBe(free);
  });

  it("what is under way counts against it", () => {
    const { gate, ask } = openScene();
    ask(minute(32));
    gate.start();
    gate.start();
    gate.start();
    expect(gate.free()).toBe(1);
  });

  it("one, while nothing is known, and none while that one is under way", () => {
    const { gate } = openScene();
    expect(gate.free()).toBe(1);
    gate.start();
    expect(gate.free()).toBe(0);
  });

  it("one more with each answer, from one after a pause", () => {
    const { gate, clock } = openScene();
    const allowed = (): number[] =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map(() => {
        const free = gate.free();
        gate.end(gate.start(), { rateLimit: minute(64), failure: undefined });
        return free;
      });
    expect(allowed()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
    gate.end(gate.start(), { rateLimit: undefined, failure: failure("RATE_LIMIT_EXCEEDED", 1_000) });
    clock.nowMs = 1_000;
    expect(allowed()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 8]);
  });

  it("another one, when the caller gave the first up", () => {
    const { gate } = openScene();
    gate.end(gate.start(), undefined);
    expect(gate.free()).toBe(1);
  });

  it("one, when the window that was learned of has ended", () => {
    const { gate, clock, ask } = openScene();
    ask(minute(60));
    clock.nowMs = 59_999;
    expect(gate.free()).toBe(7);
    clock.nowMs = 60_000;
    expect(gate.free()).toBe(1);
  });
});

describe("within one Reset", () => {
  it("the smallest Remaining counts, in whatever order answers arrive", () => {
    const { gate, ask } = openScene();
    ask(minute(60));
    const requests = [gate.start(), gate.start()];
    ask(minute(16));
    for (const request of requests) gate.end(request, { rateLimit: minute(59), failure: undefined });
    expect(gate.free()).toBe(2);
  });

  it("a later Reset begins anew, and an answer of the window before is overtaken", () => {
    const { gate, ask } = openScene();
    ask(minute(60));
    const slow = gate.start();
    ask(minute(64, 120));
    expect(gate.free()).toBe(7);
    gate.end(slow, { rateLimit: minute(8, 60), failure: undefined });
    expect(gate.free()).toBe(8);
  });

  it("an earlier Reset is news, when it was asked for later: the account has another plan", () => {
    const { gate, ask } = openScene();
    ask(minute(8, 86_400, 1_000));
    expect(gate.free()).toBe(1);
    ask(minute(299, 120, 300));
    expect(gate.free()).toBe(8);
  });

  it("so is another limit", () => {
    const { gate, ask } = openScene();
    ask(minute(8));
    ask(minute(247, 60, 300));
    expect(gate.free()).toBe(8);
  });
});

describe("a pause", () => {
  it("from nothing left until the Reset, to the millisecond, then one asks", () => {
    const { gate, clock, ask } = openScene();
    ask(minute(0));
    expect([gate.free(), gate.opensInMs()]).toEqual([0, 60_000]);
    clock.nowMs = 59_999;
    expect(gate.free()).toBe(0);
    clock.nowMs = 60_000;
    expect([gate.free(), gate.opensInMs()]).toEqual([1, 0]);
  });

  it("from 429 until Retry-After, whatever answers arrive meanwhile", () => {
    const { gate, clock, ask } = openScene();
    ask(minute(64));
    const late = gate.start();
    ask(minute(0, 60), failure("RATE_LIMIT_EXCEEDED", 61_000));
    gate.end(late, { rateLimit: minute(1), failure: undefined });
    clock.nowMs = 60_999;
    expect(gate.free()).toBe(0);
    clock.nowMs = 61_000;
    expect(gate.free()).toBe(1);
    gate.start();
    expect(gate.free()).toBe(0);
  });

  it("is not asked about twice: of two 429s the later Retry-After counts", () => {
    const { gate, ask } = openScene();
    const other = gate.start();
    ask(undefined, failure("RATE_LIMIT_EXCEEDED", 30_000));
    gate.end(other, { rateLimit: undefined, failure: failure("RATE_LIMIT_EXCEEDED", 10_000) });
    expect(gate.opensInMs()).toBe(30_000);
  });

  it("doubles while the service stays away, once for each that asked, up to 30 s", () => {
    const { gate, clock, ask } = openScene({ random: () => 0.999 });
    ask(minute(64));
    const together = [gate.start(), gate.start(), gate.start()];
    for (const request of together) gate.end(request, { rateLimit: undefined, failure: failure("NETWORK_ERROR") });
    const pauses: number[] = [];
    for (let probe = 0; probe < 7; probe += 1) {
      pauses.push(Math.ceil(gate.opensInMs() / 1_000));
      clock.nowMs += gate.opensInMs();
      ask(undefined, failure("NETWORK_ERROR"));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
    clock.nowMs += gate.opensInMs();
    ask(minute(64));
    ask(undefined, failure("NETWORK_ERROR"));
    expect(Math.ceil(gate.opensInMs() / 1_000)).toBe(1);
  });
});

describe("a closed gate", () => {
  it.each([
    ["API_KEY_BANNED", 1_000, true],
    ["API_KEY_BANNED", 3_600_000, true],
    ["RATE_LIMIT_EXCEEDED", 61_000, false],
    ["DAILY_QUOTA_EXCEEDED", 120_000, false],
    ["DAILY_QUOTA_EXCEEDED", 120_001, true],
  ] as const)("%s for %i ms closes it: %s", (code, retryAfterMs, isClosed) => {
    const { gate, clock, ask } = openScene();
    const refusal = failure(code, retryAfterMs);
    ask(undefined, refusal);
    expect(gate.closedBy()).toBe(isClosed ? refusal : undefined);
    clock.nowMs = retryAfterMs;
    expect(gate.closedBy()).toBeUndefined();
    expect(gate.free()).toBe(1);
  });

  it("does not close again by itself after it opened", () => {
    const { gate, clock, ask } = openScene();
    ask(undefined, failure("API_KEY_BANNED", 60_000));
    clock.nowMs = 60_000;
    ask(minute(0, 120), undefined);
    expect(gate.opensInMs()).toBe(60_000);
    expect(gate.closedBy()).toBeUndefined();
  });
});
