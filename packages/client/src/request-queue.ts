/**
 * The queue of requests. Bottleneck 2.19.5 decides when the next request starts.
 *
 * - Bottleneck cannot remove the job of an aborted call. So a job belongs to no call: it starts the first waiting call, and
 *   a new call adds a job only if there are fewer jobs than waiting calls.
 * - No reservoir interval: its timer runs every 250 ms and drifts. Instead `update` sets the reservoir to the free slots of
 *   the tracker. Bottleneck applies the new value one tick later, so each job checks the tracker again.
 * - A `minTime` of -Infinity. Bottleneck notes the wall clock's time of each job, and lets no job start before the noted
 *   time plus `minTime`. With a `minTime` of 0, a clock that is set back by an hour would stop the queue for an hour. The
 *   first noted time is that of the limiter's creation, so the limiter is created with the first job.
 * - No `highWater`: it would count the jobs of aborted calls.
 */
import Bottleneck from "bottleneck/light.js";
import { PetStoreError } from "./pet-store-error.js";
import type { QuotaTracker, ResponseInfo } from "./quota-tracker.js";

/**
 * Calls `send` when the quota allows it, and resolves with its result. Rejects with the error of `send`, with the signal's
 * reason, with QUEUE_FULL unless it is a retry, or with the error of the open circuit. A retry starts before calls that
 * were not sent yet.
 */
type RunInQueue = <T extends ResponseInfo>(
  send: () => Promise<T>,
  options: { readonly isRetry: boolean; readonly signal: AbortSignal },
) => Promise<T>;

interface WaitingCall {
  readonly isRetry: boolean;
  start(): Promise<void>;
  reject(error: unknown): void;
}

export function createRequestQueue(tracker: QuotaTracker, maxConcurrent: number, maxQueued: number): RunInQueue {
  let limiter: Bottleneck | undefined;
  const waiting = new Set<WaitingCall>();
  let queuedJobs = 0;
  let newestJob = 0;
  let resumeTimer: ReturnType<typeof setTimeout> | undefined;

  function rejectWaiting(error: unknown): void {
    for (const call of waiting) call.reject(error);
  }

  /** Call this after every change of the tracker, of the waiting calls or of the queued jobs. */
  function update(): void {
    clearTimeout(resumeTimer);
    const circuitError = tracker.circuitError();
    if (circuitError !== undefined) rejectWaiting(circuitError);
    limiter ??= new Bottleneck({ maxConcurrent, reservoir: 0, minTime: -Infinity }).on("error", rejectWaiting);
    if (queuedJobs < waiting.size) {
      queuedJobs += 1;
      newestJob += 1;
      // By default Bottleneck takes the id from Math.random. If a test fixes Math.random, it refuses the second job.
      limiter.schedule({ id: `${newestJob}` }, runJob).catch(rejectWaiting);
    }
    // Read before the free slots: if the pause ended between the two readings, no timer would set the reservoir again.
    const resumeInMs = tracker.pauseRemainingMs();
    limiter.updateSettings({ reservoir: tracker.freeSlots() }).catch(rejectWaiting);
    // Set only while calls wait, so that an idle client does not keep the process alive.
    if (waiting.size > 0 && resumeInMs > 0) resumeTimer = setTimeout(update, resumeInMs);
  }

  async function runJob(): Promise<void> {
    queuedJobs -= 1;
    const calls = [...waiting];
    const call = calls.find(({ isRetry }) => isRetry) ?? calls[0];
    if (call === undefined || tracker.freeSlots() === 0) update();
    else await call.start();
  }

  return async (send, { isRetry, signal }) => {
    signal.throwIfAborted();
    if (waiting.size >= maxQueued && !isRetry) {
      throw new PetStoreError("QUEUE_FULL", `The queue is full: ${maxQueued} calls are waiting.`);
    }
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        waiting.delete(call);
        // With a listener, Node keeps this signal in memory as long as the caller's signal.
        signal.removeEventListener("abort", onAbort);
      };
      const onAbort = (): void => {
        call.reject(signal.reason);
        update();
      };
      const call: WaitingCall = {
        isRetry,
        async start() {
          stopWaiting();
          const request = tracker.start();
          update();
          try {
            const result = await send();
            tracker.end(request, result);
            resolve(result);
          } catch (error) {
            tracker.end(request, undefined);
            reject(error);
          }
          update();
        },
        reject(error) {
          stopWaiting();
          reject(error);
        },
      };
      waiting.add(call);
      signal.addEventListener("abort", onAbort, { once: true });
      update();
    });
  };
}
