/** Instants are epoch milliseconds of this process. */
export interface Timed {
  readonly sentAtMs: number;
  readonly durationMs: number;
}

/** One request and what became of it. */
export interface Exchange extends Timed {
  /** 0 when there was no answer. */
  readonly status: number;
  /** The first error code that the answer names. */
  readonly code: string | undefined;
  /** What kept it from being served, where that was our fault. */
  readonly failure: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimit: RateLimit | undefined;
  readonly leaks: boolean;
  /** The name of a pet whose creation was asked for, with an idempotency key of its own. */
  readonly asked: string | undefined;
  /** The same, where it was acknowledged. */
  readonly created: string | undefined;
}

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAtMs: number;
}

/** When it ended, or was given up. */
export function endOf({ sentAtMs, durationMs }: Timed): number {
  return sentAtMs + durationMs;
}

export function isFailure({ failure }: Exchange): boolean {
  return failure !== undefined;
}

/** Whether it tells that the service is away, and when to come back. */
export function isCivil({ status, code, retryAfterSeconds }: Exchange): boolean {
  return status === 503 && code === "SERVICE_UNAVAILABLE" && retryAfterSeconds !== undefined;
}

/** Whether it was granted: a fault that is told in the body of a 200 is none. */
export function isGood({ status, failure }: Exchange): boolean {
  return status >= 200 && status < 300 && failure === undefined;
}

export function isCreated({ created }: Exchange): boolean {
  return created !== undefined;
}

export function isBanned({ code }: Exchange): boolean {
  return code === "API_KEY_BANNED";
}
