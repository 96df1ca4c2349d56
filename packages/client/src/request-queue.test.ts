import Bottleneck from "bottleneck/light.js";
import { expect, it, vi } from "vitest";
import { createRequestQueue } from "./request-queue.js";

const result = { rateLimit: undefined, failure: undefined };

/** A queue for one request at a time. Its tracker asks `isPaused` at each reading. */
function openQueue(isPaused: () => boolean): (signal: AbortSignal) => Promise<object> {
  const tracker = {
    freeSlots: () => (isPaused() ? 0 : 1),
    pauseRemainingMs: () => (isPaused() ? 60_000 : 0),
    circuitError: () => undefined,
    start: () => 1,
    end() {},
  };
  const runInQueue = createRequestQueue(tracker, 1, 1);
  return (signal) => runInQueue(async () => result, { isRetry: false, signal });
}

it("sends a waiting call whose pause ends between two readings of the clock", async () => {
  let readings = 0;
  const run = openQueue(() => readings++ === 0);
  expect(await run(new AbortController().signal)).toBe(result);
});

it("holds one job for many calls that are started and aborted during a pause, and sends the last call", async () => {
  const schedule = vi.spyOn(Bottleneck.prototype, "schedule");
  let isPaused = true;
  const run = openQueue(() => isPaused);
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
