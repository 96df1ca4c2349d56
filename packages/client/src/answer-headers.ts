/** What the contract's X-RateLimit triple says. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds of the server's clock: it names the window, and is compared with other answers' alone. */
  readonly reset: number;
  /** From the answer until the reset, never too short. */
  readonly resetInMs: number;
}

/** The triple of an answer; `undefined` where it is not whole, as in a proxy's own answers. */
export function readRateLimit(headers: Headers, nowMs: number): RateLimit | undefined {
  const limit = wholeNumber(headers.get("x-ratelimit-limit"));
  const remaining = wholeNumber(headers.get("x-ratelimit-remaining"));
  const reset = wholeNumber(headers.get("x-ratelimit-reset"));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, reset, resetInMs: Math.max(0, reset * 1000 - serverNowMs(headers, nowMs)) };
}

/** Retry-After (RFC 9110 section 10.2.3): seconds, or the date that some proxies send. */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const field = headers.get("retry-after");
  const seconds = wholeNumber(field);
  if (seconds !== undefined) return seconds * 1000;
  const dateMs = Date.parse(field ?? "");
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - serverNowMs(headers, nowMs));
}

/**
 * The server's clock, rounded down to a second by Date, which makes every wait longer, never shorter. This machine's
 * clock only where Date is missing or hidden from a browser.
 */
function serverNowMs(headers: Headers, nowMs: number): number {
  const dateMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(dateMs) ? nowMs : dateMs;
}

function wholeNumber(field: string | null): number | undefined {
  return field !== null && /^\d{1,15}$/.test(field) ? Number(field) : undefined;
}
