/** A response as it was received. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** A response with its values read. Times are epoch milliseconds of this process. */
export interface HttpAnswer extends Answer {
  readonly json: unknown;
  /** The first error code in the body, of REST or of GraphQL. */
  readonly code: string | undefined;
  readonly rateLimit: RateLimit;
  /** NaN without the header. */
  readonly retryAfterSeconds: number;
  readonly sentAtMs: number;
  readonly durationMs: number;
}

/** The X-RateLimit headers as numbers; NaN where one is missing. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Epoch seconds. */
  readonly reset: number;
}

/** An answer whose last byte has just arrived. */
export function readAnswer({ status, headers, text }: Answer, sentAtMs: number): HttpAnswer {
  return {
    status,
    headers,
    text,
    // Only some tests read it, and a load has many answers.
    get json() {
      return parseJson(text);
    },
    code: /"code":"(\w+)"/.exec(text)?.[1],
    rateLimit: {
      limit: Number(headers["x-ratelimit-limit"]),
      remaining: Number(headers["x-ratelimit-remaining"]),
      reset: Number(headers["x-ratelimit-reset"]),
    },
    retryAfterSeconds: Number(headers["retry-after"]),
    sentAtMs,
    durationMs: nowMs() - sentAtMs,
  };
}

/** The time of this process, which the clock of the machine cannot move. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** The value of a JSON text; `undefined` when it is no valid object or array. */
export function parseJson(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // The tests see it in `text`.
    return undefined;
  }
}
