import { nowMs, type WholeAnswer } from "@petstore/harness/network";
import { isLeak } from "@petstore/harness/responses";

/** Times are epoch milliseconds of this process. */
export interface Timed {
  readonly sentAtMs: number;
  readonly durationMs: number;
}

/** One request and its answer, without the body: a load has many of them. */
export interface Result extends Timed {
  /** 0 without an answer. */
  readonly status: number;
  /** The first error code in the answer. */
  readonly code: string | undefined;
  /** Why the service did not serve the request, where that is the fault of the service. */
  readonly failure: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly rateLimit: { readonly limit: number; readonly remaining: number; readonly resetAtMs: number } | undefined;
  readonly leaks: boolean;
  /** The name of the pet that the request creates, with its own idempotency key. */
  readonly requestedPet: string | undefined;
  /** The same name if the answer acknowledges the create. */
  readonly acknowledgedPet: string | undefined;
}

export interface Answer extends Result {
  /** Empty without an answer. */
  readonly text: string;
}

type Received = Pick<WholeAnswer, "status" | "headers" | "text"> & Pick<Timed, "sentAtMs">;

/** The result of an answer that ends now. */
export function answerOf({ sentAtMs, status, headers, text }: Received): Answer {
  const code = /"code":"(\w+)"/.exec(text)?.[1];
  // GraphQL answers 200 and reports the failure in the body.
  const isFailed = status >= 500 || code === "INTERNAL_ERROR" || code === "SERVICE_UNAVAILABLE";
  return {
    sentAtMs,
    durationMs: nowMs() - sentAtMs,
    status,
    code,
    failure: isFailed ? `${status} ${code}` : undefined,
    retryAfterSeconds: numberIn(headers["retry-after"]),
    rateLimit: rateLimitIn(headers),
    leaks: isLeak(`${text}\n${Object.values(headers).join("\n")}`),
    requestedPet: undefined,
    acknowledgedPet: undefined,
    text,
  };
}

export function noAnswer(sentAtMs: number, reason: unknown): Answer {
  const answer = answerOf({ sentAtMs, status: 0, headers: {}, text: "" });
  return { ...answer, failure: `no answer: ${reason}` };
}

export function endOf({ sentAtMs, durationMs }: Timed): number {
  return sentAtMs + durationMs;
}

export function isFailure({ failure }: Result): boolean {
  return failure !== undefined;
}

/** A 503 that tells the client when to try again. */
export function isUnavailable({ status, code, retryAfterSeconds }: Result): boolean {
  return status === 503 && code === "SERVICE_UNAVAILABLE" && retryAfterSeconds !== undefined;
}

export function isSuccess({ status, failure }: Result): boolean {
  return status >= 200 && status < 300 && failure === undefined;
}

export function isAcknowledged({ acknowledgedPet }: Result): boolean {
  return acknowledgedPet !== undefined;
}

export function isCreate({ requestedPet }: Result): boolean {
  return requestedPet !== undefined;
}

export function isList(result: Result): boolean {
  return !isCreate(result);
}

export function isBanned({ code }: Result): boolean {
  return code === "API_KEY_BANNED";
}

export function count<One>(all: readonly One[], matches: (one: One) => boolean): number {
  return all.filter(matches).length;
}

/** NaN without results. */
export function slowestMs(results: readonly Timed[]): number {
  if (results.length === 0) return Number.NaN;
  return results.reduce((slowestMs, { durationMs }) => Math.max(slowestMs, durationMs), 0);
}

function rateLimitIn(headers: Received["headers"]): Result["rateLimit"] {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    numberIn(headers[`x-ratelimit-${name}`]),
  );
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, resetAtMs: reset * 1_000 };
}

function numberIn(header: string | undefined): number | undefined {
  return header !== undefined && /^\d+$/.test(header) ? Number(header) : undefined;
}
