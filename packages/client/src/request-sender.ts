import { createKeyExpiryNotice } from "./key-expiry-notice.js";
import { failureOf, isRetryable, PetStoreError } from "./pet-store-error.js";
import { createQuotaTracker, fullJitterMs, longestTimerMs, type ResponseInfo } from "./quota-tracker.js";
import { createRequestQueue } from "./request-queue.js";
import { type PetStoreResponse, readRateLimit } from "./response-headers.js";

export type Fetch = typeof globalThis.fetch;

export interface SendingOptions {
  /** Defaults to the global `fetch`. */
  readonly fetch?: Fetch;
  /** The time limit of one attempt, from the request to the last byte of the response. Defaults to 30 seconds. */
  readonly timeoutMs?: number;
  /** The most requests in flight at the same time, at least 1. Defaults to 8. */
  readonly maxConcurrent?: number;
  /** The most calls that may wait in the queue. Defaults to 1,000. */
  readonly maxQueued?: number;
  /** The most retries of one call after temporary failures. Defaults to 5. */
  readonly maxRetries?: number;
  /**
   * If the service demands a longer wait than this, calls are rejected with its error. Defaults to 2 minutes: calls wait
   * for the next minute's quota, but not for the next day's.
   */
  readonly maxWaitMs?: number;
  /**
   * Called once when a response says that the API key ends within 30 days, with the time of the end. If an operator changes the
   * end, it is called once more with the new time. No call of the client waits for it, and its errors are ignored.
   */
  readonly onKeyExpiry?: (expiresAt: Date) => void;
  /**
   * The current time in epoch milliseconds. Defaults to `Date.now`. It only names moments to people, as in `retryAt`, and
   * replaces a `Date` header that is missing. No wait depends on it otherwise.
   */
  readonly now?: () => number;
  /**
   * Milliseconds of a clock that is never set, for all waits. Defaults to `performance.now`. With the wall clock, a wait
   * would be longer by every step that the clock is set back.
   */
  readonly monotonicNow?: () => number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). Defaults to `Math.random`. */
  readonly random?: () => number;
}

/** A request that may be sent more than once: it is a GET, or it has an Idempotency-Key. */
interface PetStoreRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Resolves with a successful response. Rejects with a PetStoreError, or with the signal's reason. */
type SendRequest = (request: PetStoreRequest, signal: AbortSignal | undefined) => Promise<PetStoreResponse>;

type AttemptResult =
  | (ResponseInfo & { readonly response: PetStoreResponse; readonly failure: undefined })
  | (ResponseInfo & { readonly response?: undefined; readonly failure: PetStoreError });

/** Sends requests through the queue. Queues each retry again: Bottleneck's retries take no unit from its reservoir. */
export function createRequestSender({
  // Reads the global at each request: tracing or a test may replace it later.
  fetch = (...request) => globalThis.fetch(...request),
  timeoutMs = 30_000,
  maxConcurrent = 8,
  maxQueued = 1_000,
  maxRetries = 5,
  maxWaitMs = 120_000,
  onKeyExpiry,
  now = Date.now,
  monotonicNow = () => performance.now(),
  random = Math.random,
}: SendingOptions): SendRequest {
  // Otherwise Bottleneck starts no request. The comparison is also false for NaN.
  if (!(maxConcurrent >= 1)) throw new RangeError("maxConcurrent must be at least 1");
  const tracker = createQuotaTracker({ maxConcurrent, maxWaitMs, now: monotonicNow, random });
  const runInQueue = createRequestQueue(tracker, maxConcurrent, maxQueued);
  const noticeKeyExpiry = createKeyExpiryNotice(onKeyExpiry);

  return async (request, callerSignal) => {
    // A signal for each call, because Node warns about a leak at the eleventh listener of one signal. In Node 20 the
    // caller's signal keeps about 60 bytes for each call and each attempt.
    const signal = AbortSignal.any(callerSignal === undefined ? [] : [callerSignal]);
    for (let retry = 0; ; retry += 1) {
      const { response, failure } = await runInQueue(() => attempt(request, signal), { isRetry: retry > 0, signal });
      if (failure === undefined) return response;
      const { retryAfterMs = 0 } = failure;
      // If `maxRetries` is NaN, `retry >= maxRetries` would never be true.
      if (!isRetryable(failure) || !(retry < maxRetries) || retryAfterMs > maxWaitMs) throw failure;
      // An aborted call rejects when it is queued again.
      await pause(Math.max(fullJitterMs(retry + 1, random), retryAfterMs), signal);
    }
  };

  /**
   * Sends the request once. A timeout and an abort end the attempt immediately, even if `fetch` ignores its signal. Rejects
   * only with the reason of the call's signal.
   */
  async function attempt({ url, ...init }: PetStoreRequest, callSignal: AbortSignal): Promise<AttemptResult> {
    const timeout = new AbortController();
    const timer = setTimeout(
      () => timeout.abort(new PetStoreError("TIMEOUT", `The service did not respond within ${timeoutMs} ms.`)),
      Math.min(timeoutMs, longestTimerMs),
    );
    const signal = AbortSignal.any([callSignal, timeout.signal]);
    const ended = new AbortController();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { signal: ended.signal });
    });
    const receive = async (): Promise<PetStoreResponse> => {
      // A redirect to another host would lose the key, and may turn a POST into a GET.
      const response = await fetch(url, { ...init, signal, credentials: "omit", redirect: "manual" });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    let response: PetStoreResponse;
    try {
      response = await Promise.race([receive(), aborted]);
    } catch (cause) {
      callSignal.throwIfAborted();
      const failure: PetStoreError = timeout.signal.aborted
        ? timeout.signal.reason
        : new PetStoreError("NETWORK_ERROR", "The service could not be reached.", { cause });
      return { rateLimit: undefined, failure };
    } finally {
      clearTimeout(timer);
      // With a listener, Node keeps this signal in memory as long as the call's signal.
      ended.abort();
    }
    noticeKeyExpiry(response.headers);
    const rateLimit = readRateLimit(response.headers, now());
    const failure = failureOf(response, now());
    return failure === undefined ? { response, rateLimit, failure } : { rateLimit, failure };
  }
}

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
