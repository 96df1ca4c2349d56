/**
 * The queue of requests, which Bottleneck 2.19.5 holds. It runs locally, with priorities, and with a reservoir of units.
 *
 * - No reservoir interval: its timer runs every 250 ms and drifts. This module sets the reservoir itself, to the number of
 *   requests that the quota tracker allows. Bottleneck applies that one tick later, and the tracker may allow less by
 *   then. So each job checks the tracker again when it starts, and goes back to the front of the queue if needed.
 * - No `highWater`: Bottleneck keeps the jobs of aborted calls in its queue, so it would count them.
 * - No `expiration`: every request has its own timeout.
 */
import Bottleneck from "bottleneck/light.js";
import { PetStoreError } from "./pet-store-error.js";
import type { QuotaTracker, ResponseInfo } from "./quota-tracker.js";

/**
 * Calls `send` when the quota allows it, and resolves with its result. Rejects with the error of `send`, with the signal's
 * reason, with QUEUE_FULL, or with the error of the open circuit. A retry starts before calls that were not sent yet.
 */
type RunInQueue = <T extends ResponseInfo>(
  send: () => Promise<T>,
  options: { readonly isRetry: boolean; readonly signal: AbortSignal },
) => Promise<T>;

/** Bottleneck starts jobs with a lower number first. */
const priorities = { returned: 3, retry: 4, new: 5 };

export function createRequestQueue(tracker: QuotaTracker, maxConcurrent: number, maxQueued: number): RunInQueue {
  const limiter = new Bottleneck({ maxConcurrent, reservoir: 0 }).on("error", rejectWaiting);
  /** The reject function of each waiting call. The job of a call that was rejected stays in Bottleneck's queue. */
  const waiting = new Set<(error: unknown) => void>();
  let jobs = 0;
  let resumeTimer: ReturnType<typeof setTimeout> | undefined;

  function rejectWaiting(error: unknown): void {
    for (const reject of waiting) reject(error);
  }

  /** Call this after every change of the tracker or of the waiting calls. */
  function updateReservoir(): void {
    clearTimeout(resumeTimer);
    const circuitError = tracker.circuitError();
    if (circuitError !== undefined) rejectWaiting(circuitError);
    // Before the free slots: if a pause ended between the two readings, nothing would set the reservoir again.
    const resumeInMs = tracker.pauseRemainingMs();
    limiter.updateSettings({ reservoir: tracker.freeSlots() }).catch(rejectWaiting);
    // Set only while calls wait, so that an idle client does not keep the process alive.
    if (waiting.size > 0 && resumeInMs > 0) resumeTimer = setTimeout(updateReservoir, resumeInMs);
  }

  function enqueue(priority: number, job: () => Promise<void>, reject: (error: unknown) => void): void {
    // Bottleneck's own ids come from Math.random: with a fixed one, as in some tests, it refuses the second job.
    jobs += 1;
    limiter.schedule({ id: `${jobs}`, priority }, job).catch(reject);
  }

  return (send, { isRetry, signal }) =>
    new Promise((resolve, reject) => {
      const refusal = signal.aborted ? signal.reason : (tracker.circuitError() ?? queueFullError());
      if (refusal !== undefined) {
        reject(refusal);
        return;
      }
      const stopWaiting = (): void => {
        waiting.delete(rejectCall);
        // A listener would keep the signal in memory as long as the caller's.
        signal.removeEventListener("abort", onAbort);
      };
      const rejectCall = (error: unknown): void => {
        stopWaiting();
        reject(error);
      };
      const onAbort = (): void => {
        rejectCall(signal.reason);
        updateReservoir();
      };
      const job = async (): Promise<void> => {
        if (!waiting.has(rejectCall)) {
          updateReservoir();
          return;
        }
        if (tracker.freeSlots() === 0) {
          enqueue(priorities.returned, job, rejectCall);
          updateReservoir();
          return;
        }
        stopWaiting();
        const request = tracker.start();
        updateReservoir();
        try {
          const result = await send();
          tracker.end(request, result);
          resolve(result);
        } catch (error) {
          tracker.end(request, undefined);
          reject(error);
        }
        updateReservoir();
      };
      waiting.add(rejectCall);
      signal.addEventListener("abort", onAbort, { once: true });
      enqueue(isRetry ? priorities.retry : priorities.new, job, rejectCall);
      updateReservoir();
    });

  function queueFullError(): PetStoreError | undefined {
    if (waiting.size < maxQueued) return undefined;
    return new PetStoreError("QUEUE_FULL", `The queue is full: ${maxQueued} calls are waiting.`);
  }
}
