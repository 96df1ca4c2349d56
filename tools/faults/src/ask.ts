import { isLeak } from "@petstore/harness/leak";
import type { Pool } from "undici";
import type { Call } from "./api.js";
import type { Exchange, RateLimit } from "./exchange.js";

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
    return answerOf({ sentAtMs, status: statusCode, headers, text: await body.text() });
  } catch (error) {
    return noAnswer(sentAtMs, error);
  }
}

export function noAnswer(sentAtMs: number, reason: unknown): Answer {
  return {
    sentAtMs,
    durationMs: nowMs() - sentAtMs,
    status: 0,
    code: undefined,
    failure: `no answer: ${reason}`,
    retryAfterSeconds: undefined,
    rateLimit: undefined,
    leaks: false,
    asked: undefined,
    created: undefined,
    text: "",
  };
}

interface Received {
  readonly sentAtMs: number;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** By their names in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** What a whole answer says, which has just been read. */
export function answerOf({ sentAtMs, status, headers, text }: Received): Answer {
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  return {
    sentAtMs,
    durationMs: nowMs() - sentAtMs,
    status,
    code,
    failure: isOurFault(status, text) ? `${status} ${code}` : undefined,
    retryAfterSeconds: numberOf(headers["retry-after"]),
    rateLimit: rateLimitOf(headers),
    leaks: isLeak(`${text}\n${Object.values(headers).join("\n")}`),
    asked: undefined,
    created: undefined,
    text,
  };
}

/** An API may answer 200 and tell a fault in the body. */
function isOurFault(status: number, text: string): boolean {
  return status >= 500 || /"code":"(INTERNAL_ERROR|SERVICE_UNAVAILABLE)"/.test(text);
}

function rateLimitOf(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    numberOf(headers[`x-ratelimit-${name}`]),
  );
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAtMs: reset * 1_000 };
}

function numberOf(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d+$/.test(header) ? Number(header) : undefined;
}
