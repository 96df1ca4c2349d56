/**
 * Decides how many requests may start now. Responses arrive in any order, and other programs may use the same account. So
 * the smallest `remaining` of a window counts. After a pause one probe may start. Each response then allows one more request
 * in flight, as long as enough units remain.
 */
import { isUnavailable, type PetStoreError } from "./pet-store-error.js";
import type { RateLimit } from "./response-headers.js";

export interface QuotaTrackerOptions {
  readonly maxConcurrent: number;
  /** If the service demands a longer wait than this, the circuit opens: calls are rejected instead of queued. */
  readonly maxWaitMs: number;
  /** Milliseconds of a monotonic clock. Only differences are used. */
  readonly now: () => number;
  readonly random: () => number;
}

export interface QuotaTracker {
  /** The number of requests that may start now, 0 or more. */
  freeSlots(): number;
  /** Milliseconds until the current pause ends, at most `longestTimerMs`; 0 without a pause. */
  pauseRemainingMs(): number;
  /** The error that rejects every call while the circuit is open; `undefined` while calls may be queued. */
  circuitError(): PetStoreError | undefined;
  /** Records that a request starts, and returns its number. */
  start(): number;
  /** Records how the request ended. `info` is `undefined` if the caller aborted it. */
  end(request: number, info: ResponseInfo | undefined): void;
}

export interface ResponseInfo {
  readonly rateLimit: RateLimit | undefined;
  readonly failure: PetStoreError | undefined;
}

/** Each request in flight needs this many remaining units, because other programs may spend them too. */
const unitsPerRequestInFlight = 8;
/** Clients with the same reset time resume at random within this time, so that they do not all send at once. */
const resumeSpreadMs = 500;

export function createQuotaTracker({ maxConcurrent, maxWaitMs, now, random }: QuotaTrackerOptions): QuotaTracker {
  const inFlight = new Set<number>();
  let newestRequest = 0;
  /** The last known window; without limit before the first update. `newestAtUpdate` is the newest request at the update. */
  let window = { limit: Infinity, remaining: Infinity, reset: 0, endsAtMs: Infinity, newestAtUpdate: 0 };
  let pausedUntilMs = -Infinity;
  let openCircuit: { readonly error: PetStoreError; readonly untilMs: number } | undefined;
  let newestBeforePause = 0;
  /** Counts responses to requests that started since the last pause. Until the first one, a single probe may be in flight. */
  let responsesSincePause = 0;
  let consecutiveFailures = 0;

  const startedSincePause = (request: number): boolean => request > newestBeforePause;

  function pauseFor(ms: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, now() + ms);
    newestBeforePause = newestRequest;
    responsesSincePause = 0;
  }

  function updateWindow(request: number, { limit, remaining, reset, resetInMs }: RateLimit): void {
    const startedAfterUpdate = request > window.newestAtUpdate;
    // An older request reports an earlier reset if its window has ended. A newer request does so if the service now reports
    // the minute instead of the day, or if the account has another plan.
    if (reset < window.reset && !startedAfterUpdate) return;
    const isNewPlan = limit !== window.limit && startedAfterUpdate;
    const isSameWindow = reset === window.reset && !isNewPlan;
    const left = isSameWindow ? Math.min(remaining, window.remaining) : remaining;
    window = { limit, remaining: left, reset, endsAtMs: now() + resetInMs, newestAtUpdate: newestRequest };
    // If `maxWaitMs` is NaN, the client waits for every reset.
    if (left === 0 && !(resetInMs > maxWaitMs)) pauseFor(resetInMs + random() * resumeSpreadMs);
  }

  function recordFailure(request: number, failure: PetStoreError): void {
    const { code, status, retryAfterMs = 0 } = failure;
    if (isUnavailable(failure)) {
      // Requests that were in flight together count as one failure, unless a probe has succeeded since the pause.
      if (startedSincePause(request) || responsesSincePause > 0) consecutiveFailures += 1;
      pauseFor(Math.max(retryAfterMs, fullJitterMs(consecutiveFailures, random)));
    } else if (status === 429) {
      pauseFor(retryAfterMs + random() * resumeSpreadMs);
    } else {
      return;
    }
    // The circuit ends at the `retryAt` of the error, even if the pause lasts longer. A call after `retryAt` is queued.
    const untilMs = now() + retryAfterMs;
    const opensCircuit = code === "API_KEY_BANNED" || retryAfterMs > maxWaitMs;
    if (opensCircuit && untilMs > (openCircuit?.untilMs ?? -Infinity)) openCircuit = { error: failure, untilMs };
  }

  return {
    freeSlots() {
      if (now() < pausedUntilMs) return 0;
      // An older request that is still in flight does not delay the probe.
      if (responsesSincePause === 0) return [...inFlight].some(startedSincePause) ? 0 : 1;
      const affordable = now() < window.endsAtMs ? Math.floor(window.remaining / unitsPerRequestInFlight) : 1;
      const allowed = Math.min(maxConcurrent, 1 + responsesSincePause, Math.max(1, affordable));
      return Math.max(0, allowed - inFlight.size);
    },
    pauseRemainingMs: () => Math.min(longestTimerMs, Math.max(0, pausedUntilMs - now())),
    circuitError: () => (openCircuit !== undefined && now() < openCircuit.untilMs ? openCircuit.error : undefined),
    start() {
      newestRequest += 1;
      inFlight.add(newestRequest);
      return newestRequest;
    },
    end(request, info) {
      inFlight.delete(request);
      if (info === undefined) return;
      const { rateLimit, failure } = info;
      const isAvailable = failure === undefined || !isUnavailable(failure);
      if (isAvailable && startedSincePause(request)) {
        responsesSincePause += 1;
        consecutiveFailures = 0;
      }
      if (rateLimit !== undefined) updateWindow(request, rateLimit);
      if (failure !== undefined) recordFailure(request, failure);
    },
  };
}

/** With a longer delay, such as Infinity, `setTimeout` would fire at once. */
export const longestTimerMs: number = 2 ** 31 - 1;
const firstBackoffMs = 1_000;
const longestBackoffMs = 30_000;

/** Full jitter: a random delay of up to 1 s before retry 1, doubled with each further retry, at most 30 s. */
export function fullJitterMs(retry: number, random: () => number): number {
  return random() * Math.min(longestBackoffMs, firstBackoffMs * 2 ** (retry - 1));
}
