import Bottleneck from "bottleneck/light.js";
import { expect, it, vi } from "vitest";
import type { QuotaTracker } from "./quota-tracker.js";
import { createRequestQueue } from "./request-queue.js";

it("sends a waiting call whose pause ends between two readings of the clock", async () => {
  let isPaused = true;
  const tracker: QuotaTracker = {
    freeSlots() {
      const slots = isPaused ? 0 : 1;
      isPaused = false;
      return slots;
    },
    pauseRemainingMs: () => (isPaused ? 1 : 0),
    circuitError: () => undefined,
    start: () => 1,
    end() {},
  };
  const runInQueue = createRequestQueue(tracker, 1, 1);
  const options = { isRetry: false, signal: new AbortController().signal };
  const result = { rateLimit: undefined, failure: undefined };
  expect(await runInQueue(async () => result, options)).toBe(result);
});

it("holds one job for many calls that are started and aborted during a pause, and sends the last call", async () => {
  const schedule = vi.spyOn(Bottleneck.prototype, "schedule");
  let isPaused = true;
  const tracker: QuotaTracker = {
    freeSlots: () => (isPaused ? 0 : 1),
    pauseRemainingMs: () => (isPaused ? 60_000 : 0),
    circuitError: () => undefined,
    start: () => 1,
    end() {},
  };
  const runInQueue = createRequestQueue(tracker, 1, 1);
  const result = { rateLimit: undefined, failure: undefined };
  const run = (signal: AbortSignal) => runInQueue(async () => result, { isRetry: false, signal });
  for (let call = 0; call < 1_000; call += 1) {
    const abort = new AbortController();
    const aborted = run(abort.signal);
    abort.abort("aborted");
    await expect(aborted).rejects.toBe("aborted");
  }
  expect(schedule).toHaveBeenCalledTimes(1);
  isPaused = false;
  expect(await run(new AbortController().signal)).toBe(result);
});
