import { createAbortRelay } from "./abort-relay.js";
import { readRateLimit } from "./answer-headers.js";
import { fullJitterMs, pause } from "./backoff.js";
import { type Answer, exchange, type Fetch, type PetRequest } from "./exchange.js";
import { failureOf, isPassing } from "./failure.js";
import { createGate, type News } from "./gate.js";
import { createPacer } from "./pacer.js";
import { PetStoreError } from "./pet-store-error.js";

export interface CallerOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  readonly maxRetries: number;
  readonly maxWaitMs: number;
  readonly now: () => number;
  readonly random: () => number;
}

/** Resolves with a successful answer; rejects with a PetStoreError, or with the signal's reason. */
export type Call = (request: PetRequest, signal: AbortSignal | undefined) => Promise<Answer>;

type Outcome = News & ({ readonly answer: Answer; readonly failure: undefined } | { readonly failure: PetStoreError });

/**
 * Sends requests in their turn, and again where that may help. Every retry takes a turn of its own: Bottleneck's own
 * retries would spend nothing of the reservoir.
 */
export function createCaller(options: CallerOptions): Call {
  const { maxRetries, maxWaitMs, now, random } = options;
  const pacer = createPacer({ ...options, gate: createGate(options) });
  const follow = createAbortRelay();

  async function attempt(request: PetRequest, signal: AbortSignal): Promise<Outcome> {
    try {
      const answer = await exchange(options, request, signal);
      const rateLimit = readRateLimit(answer.headers, now());
      const failure = failureOf(answer, now());
      return failure === undefined ? { answer, rateLimit, failure } : { rateLimit, failure };
    } catch (error) {
      if (!(error instanceof PetStoreError)) throw error;
      return { rateLimit: undefined, failure: error };
    }
  }

  async function repeat(request: PetRequest, signal: AbortSignal): Promise<Answer> {
    for (let retry = 0; ; retry += 1) {
      const outcome = await pacer.run(() => attempt(request, signal), { isRetry: retry > 0, signal });
      if (outcome.failure === undefined) return outcome.answer;
      const { failure } = outcome;
      const { retryAfterMs = 0 } = failure;
      if (!isPassing(failure) || retry === maxRetries || retryAfterMs > maxWaitMs) throw failure;
      await pause(Math.max(fullJitterMs(retry + 1, random), retryAfterMs), signal);
    }
  }

  return async (request, callersSignal) => {
    const { signal, release } = follow(callersSignal);
    try {
      return await repeat(request, signal);
    } finally {
      release();
    }
  };
}
