/**
 * How many requests may start now, learned from the answers alone. Within one Reset the smallest Remaining counts, less
 * what is under way; a later Reset begins anew. The account's other clients spend from the same Remaining, so after a
 * pause one request asks, each answer allows one more at once, and the nearer Remaining comes to its end, the fewer.
 */
import type { RateLimit } from "./answer-headers.js";
import { fullJitterMs } from "./backoff.js";
import { isAway } from "./failure.js";
import type { PetStoreError } from "./pet-store-error.js";

export interface GateOptions {
  readonly maxConcurrent: number;
  /** A refusal for longer than this closes the gate instead of keeping calls waiting. */
  readonly maxWaitMs: number;
  /** Epoch milliseconds; only differences matter. */
  readonly now: () => number;
  readonly random: () => number;
}

export interface Gate {
  /** Requests that may start at this instant; never negative. */
  free(): number;
  /** Until the gate may let someone through again; 0 when that depends on answers alone. */
  opensInMs(): number;
  /** With what every call is answered meanwhile; `undefined` when calls may wait for their turn. */
  closedBy(): PetStoreError | undefined;
  /** A request starts. The returned number stands for it. */
  start(): number;
  /** What became of it; `undefined` when the caller gave it up. */
  end(request: number, news: News | undefined): void;
}

/** What one request teaches: the headers of its answer, and how it failed, where it did. */
export interface News {
  readonly rateLimit: RateLimit | undefined;
  readonly failure: PetStoreError | undefined;
}

/** So many units must remain for each request that is under way at the same time. */
const unitsPerRequest = 8;
/** Clients that were told the same instant come back spread over so long. */
const spreadMs = 500;

export function createGate({ maxConcurrent, maxWaitMs, now, random }: GateOptions): Gate {
  const underWay = new Set<number>();
  let started = 0;
  /** The window the answers speak of, when it ends, and the last request that had started when it was learned. */
  let window: (RateLimit & { readonly endsAtMs: number; readonly learnedAfter: number }) | undefined;
  let pausedUntilMs = 0;
  let closure: { readonly by: PetStoreError; readonly untilMs: number } | undefined;
  /** While this is set, one request at a time asks how things are; it is the last one that started before. */
  let probingAfter: number | undefined = 0;
  let failuresInARow = 0;
  /** Answers since the last pause. */
  let answered = 0;

  function pauseFor(ms: number): void {
    pausedUntilMs = Math.max(pausedUntilMs, now() + ms);
    probingAfter = started;
    answered = 0;
  }

  function learnWindow(request: number, news: RateLimit): void {
    const known = window;
    let { remaining } = news;
    if (known !== undefined) {
      const wasAskedLater = request > known.learnedAfter;
      // Overtaken by an answer of a newer window. Asked for later, it speaks of the other window, or of another plan.
      if (news.reset < known.reset && !wasAskedLater) return;
      const isNewPlan = news.limit !== known.limit && wasAskedLater;
      if (news.reset === known.reset && !isNewPlan) remaining = Math.min(remaining, known.remaining);
    }
    window = { ...news, remaining, endsAtMs: now() + news.resetInMs, learnedAfter: started };
    if (remaining > 0 || news.resetInMs > maxWaitMs) return;
    pauseFor(news.resetInMs + random() * spreadMs);
  }

  function learnFailure(request: number, failure: PetStoreError): void {
    const { code, retryAfterMs = 0 } = failure;
    if (code === "API_KEY_BANNED" || code === "RATE_LIMIT_EXCEEDED" || code === "DAILY_QUOTA_EXCEEDED") {
      pauseFor(retryAfterMs + random() * spreadMs);
      if (code === "API_KEY_BANNED" || retryAfterMs > maxWaitMs) closure = { by: failure, untilMs: pausedUntilMs };
    } else if (isAway(failure)) {
      // What was under way together fails together, once.
      if (request > (probingAfter ?? 0)) failuresInARow += 1;
      pauseFor(Math.max(retryAfterMs, fullJitterMs(failuresInARow, random)));
    }
  }

  return {
    free() {
      if (now() < pausedUntilMs) return 0;
      if (probingAfter !== undefined) {
        const asking = [...underWay].filter((request) => request > (probingAfter ?? 0)).length;
        return Math.max(0, 1 - asking);
      }
      return Math.max(0, atOnce() - underWay.size);
    },
    opensInMs: () => Math.max(0, pausedUntilMs - now()),
    closedBy: () => (closure !== undefined && now() < closure.untilMs ? closure.by : undefined),
    start() {
      started += 1;
      underWay.add(started);
      return started;
    },
    end(request, news) {
      underWay.delete(request);
      if (news === undefined) return;
      const { rateLimit, failure } = news;
      const isAnswered = failure === undefined || !isAway(failure);
      if (isAnswered) answered += 1;
      if (isAnswered && probingAfter !== undefined && request > probingAfter) {
        probingAfter = undefined;
        failuresInARow = 0;
      }
      if (rateLimit !== undefined) learnWindow(request, rateLimit);
      if (failure !== undefined) learnFailure(request, failure);
    },
  };

  function atOnce(): number {
    const most = Math.min(maxConcurrent, 1 + answered);
    if (window === undefined) return most;
    if (now() >= window.endsAtMs) return 1;
    return Math.min(most, Math.max(1, Math.floor(window.remaining / unitsPerRequest)));
  }
}
