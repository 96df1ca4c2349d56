import { fullJitterMs, pause } from "./backoff.js";
import { failureOf, isRetryable } from "./failure.js";
import { PetStoreError } from "./pet-store-error.js";
import { createQuotaTracker, type ResponseInfo } from "./quota-tracker.js";
import { type Fetch, type PetStoreRequest, type PetStoreResponse, sendOnce } from "./request.js";
import { createRequestQueue } from "./request-queue.js";
import { readRateLimit } from "./response-headers.js";

export interface RequestSenderOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  readonly maxRetries: number;
  readonly maxWaitMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** Resolves with a successful response. Rejects with a PetStoreError, or with the signal's reason. */
export type SendRequest = (request: PetStoreRequest, signal: AbortSignal | undefined) => Promise<PetStoreResponse>;

type AttemptResult = ResponseInfo &
  ({ readonly response: PetStoreResponse; readonly failure: undefined } | { readonly failure: PetStoreError });

/**
 * Sends requests through the queue, and retries them after temporary failures. Each retry is queued again: the retries
 * of Bottleneck do not take a unit from its reservoir.
 */
export function createRequestSender(options: RequestSenderOptions): SendRequest {
  const { maxRetries, maxWaitMs, now, random } = options;
  const queue = createRequestQueue({ ...options, tracker: createQuotaTracker(options) });
  const forwardAbort = createAbortForwarder();

  async function attempt(request: PetStoreRequest, signal: AbortSignal): Promise<AttemptResult> {
    try {
      const response = await sendOnce(options, request, signal);
      const rateLimit = readRateLimit(response.headers, now());
      const failure = failureOf(response, now());
      return failure === undefined ? { response, rateLimit, failure } : { rateLimit, failure };
    } catch (error) {
      if (!(error instanceof PetStoreError)) throw error;
      return { rateLimit: undefined, failure: error };
    }
  }

  async function sendWithRetries(request: PetStoreRequest, signal: AbortSignal): Promise<PetStoreResponse> {
    for (let retry = 0; ; retry += 1) {
      const result = await queue.run(() => attempt(request, signal), { isRetry: retry > 0, signal });
      if (result.failure === undefined) return result.response;
      const { failure } = result;
      const { retryAfterMs = 0 } = failure;
      if (!isRetryable(failure) || retry === maxRetries || retryAfterMs > maxWaitMs) throw failure;
      await pause(Math.max(fullJitterMs(retry + 1, random), retryAfterMs), signal);
    }
  }

  return async (request, callerSignal) => {
    const { signal, release } = forwardAbort(callerSignal);
    try {
      return await sendWithRetries(request, signal);
    } finally {
      release();
    }
  };
}

/** A signal of one call. `release` must be called when the call has ended. */
interface CallSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * Returns a function that gives each call a signal of its own, which is aborted with the caller's signal.
 *
 * Many calls may share one long-lived signal. Each caller's signal gets a single listener, because Node warns about a
 * leak at the eleventh. AbortSignal.any() is no alternative: in Node 20 every composite signal leaves about 50 bytes in
 * its source until the source is collected.
 */
function createAbortForwarder(): (callerSignal: AbortSignal | undefined) => CallSignal {
  const callsOf = new WeakMap<AbortSignal, Set<AbortController>>();

  function listen(callerSignal: AbortSignal): Set<AbortController> {
    const calls = new Set<AbortController>();
    callsOf.set(callerSignal, calls);
    const abortCalls = (): void => calls.forEach((call) => void call.abort(callerSignal.reason));
    callerSignal.addEventListener("abort", abortCalls, { once: true });
    return calls;
  }

  return (callerSignal) => {
    const call = new AbortController();
    if (callerSignal === undefined) return { signal: call.signal, release() {} };
    if (callerSignal.aborted) call.abort(callerSignal.reason);
    const calls = callsOf.get(callerSignal) ?? listen(callerSignal);
    calls.add(call);
    return { signal: call.signal, release: () => void calls.delete(call) };
  };
}
