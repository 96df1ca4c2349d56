export interface PetStoreResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds of the server's clock. It identifies the window; compare it only with other responses. */
  readonly reset: number;
  /** Milliseconds from the response to the reset, rounded up. */
  readonly resetInMs: number;
}

/** Returns `undefined` if one of the three headers is missing or malformed, as in a proxy's own responses. */
export function readRateLimit(headers: Headers, nowMs: number): RateLimit | undefined {
  const limit = parseWholeNumber(headers.get("x-ratelimit-limit"));
  const remaining = parseWholeNumber(headers.get("x-ratelimit-remaining"));
  const reset = parseWholeNumber(headers.get("x-ratelimit-reset"));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, reset, resetInMs: Math.max(0, reset * 1000 - serverTimeMs(headers, nowMs)) };
}

/** Reads Retry-After (RFC 9110 section 10.2.3): a number of seconds, or a date, which some proxies send. */
export function readRetryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const field = headers.get("retry-after");
  const seconds = parseWholeNumber(field);
  if (seconds !== undefined) return seconds * 1000;
  // Two proxies may each add the header. Date.parse would read their combined value `7, 7` as a day in 2001.
  const dateMs = Date.parse(field?.endsWith("GMT") ? field : "");
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - serverTimeMs(headers, nowMs));
}

/** Reads the link with rel="next". The client never requests its target: another address must not get the API key. */
export function readNextCursor(headers: Headers): string | undefined {
  for (const [, target = "", parameters = ""] of (headers.get("link") ?? "").matchAll(link)) {
    if (!relNext.test(parameters)) continue;
    const cursor = new URL(target, "http://relative.invalid").searchParams.get("cursor");
    if (cursor === null) throw new TypeError("the link to the next page has no cursor");
    return cursor;
  }
  return undefined;
}

/** Reads the end of the API key from API-Key-Expires. Returns `undefined` if it is no IMF-fixdate (RFC 9110 section 5.6.7). */
export function readKeyExpiry(headers: Headers): Date | undefined {
  const field = headers.get("api-key-expires");
  // Date.parse also reads other forms, and the combined value of two headers.
  const dateMs = field !== null && imfFixdate.test(field) ? Date.parse(field) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : new Date(dateMs);
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** One link of a Link header (RFC 8288 section 3): its target and its parameters. */
const link = /<([^>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const relNext = /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?![^\s;,]))/i;

/**
 * The Date header, which is rounded down to a second, so that a wait is never too short. Uses the local clock only if the
 * header is missing, or CORS hides it from a browser.
 */
function serverTimeMs(headers: Headers, nowMs: number): number {
  const dateMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(dateMs) ? nowMs : dateMs;
}

/** With more digits, a number of seconds would be outside the range of Date. */
function parseWholeNumber(field: string | null): number | undefined {
  return field !== null && /^\d{1,12}$/.test(field) ? Number(field) : undefined;
}
