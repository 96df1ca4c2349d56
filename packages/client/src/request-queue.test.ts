import { expect, it } from "vitest";
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
