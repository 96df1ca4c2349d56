import { isLeak } from "@petstore/testing/leak";
import type { Pool } from "undici";
import type { Call } from "./door.js";

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
  /** The name of an animal whose creation was acknowledged. */
  readonly created: string | undefined;
}

interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAtMs: number;
}

export interface Answer extends Exchange {
  /** Empty when there was none. */
  readonly text: string;
}

export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** Sends one request and reads all of its answer. Never rejects: what fails is an exchange too. */
export async function ask(pool: Pool, asked: Call, apiKey: string): Promise<Answer> {
  const sentAtMs = nowMs();
  try {
    const { statusCode, headers, body } = await pool.request({
      ...asked,
      headers: { ...asked.headers, authorization: `Bearer ${apiKey}` },
    });
    const text = await body.text();
    const code = /"code":"(\w+)"/.exec(text)?.[1];
    return {
      sentAtMs,
      durationMs: nowMs() - sentAtMs,
      status: statusCode,
      code,
      failure: isOurFault(statusCode, text) ? `${statusCode} ${code}` : undefined,
      retryAfterSeconds: numberOf(headers["retry-after"]),
      rateLimit: rateLimitOf(headers),
      leaks: isLeak(text),
      created: undefined,
      text,
    };
  } catch (error) {
    return {
      sentAtMs,
      durationMs: nowMs() - sentAtMs,
      status: 0,
      code: undefined,
      failure: `no answer: ${error}`,
      retryAfterSeconds: undefined,
      rateLimit: undefined,
      leaks: false,
      created: undefined,
      text: "",
    };
  }
}

/** A door may answer 200 and tell a fault in the body. */
function isOurFault(status: number, text: string): boolean {
  return status >= 500 || /"code":"(INTERNAL_ERROR|SERVICE_UNAVAILABLE)"/.test(text);
}

function rateLimitOf(headers: Readonly<Record<string, string | string[] | undefined>>): RateLimit | undefined {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    numberOf(headers[`x-ratelimit-${name}`]),
  );
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAtMs: reset * 1_000 };
}

function numberOf(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d+$/.test(header) ? Number(header) : undefined;
}
