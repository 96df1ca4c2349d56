import { percentile } from "@petstore/harness/figures";
import { type HttpAnswer, readAnswer } from "@petstore/harness/network";
import { isLeak } from "@petstore/harness/responses";

/** Times are epoch milliseconds of this process. */
export type Timed = Pick<HttpAnswer, "sentAtMs" | "durationMs">;

/** One request and its answer, without the headers: a load has many of them. Its status is 0 without an answer. */
export interface Result
  extends Timed,
    Pick<HttpAnswer, "status" | "code" | "text" | "rateLimit" | "retryAfterSeconds"> {
  /** Why the service did not serve the request, where that is the fault of the service. */
  readonly failure: string | undefined;
  readonly leaks: boolean;
  /** The name of the pet that the request creates, with its own idempotency key. */
  readonly requestedPet?: string;
  /** The same name if the answer acknowledges the create. */
  readonly acknowledgedPet?: string | undefined;
}

export function resultOf(received: HttpAnswer): Result {
  const { sentAtMs, durationMs, status, code, headers, text, rateLimit, retryAfterSeconds } = received;
  // GraphQL answers 200 and reports the failure in the body.
  const isFailed = status >= 500 || code === "INTERNAL_ERROR" || code === "SERVICE_UNAVAILABLE";
  return {
    sentAtMs,
    durationMs,
    status,
    code,
    rateLimit,
    retryAfterSeconds,
    text,
    failure: isFailed ? `${status} ${code}` : undefined,
    leaks: isLeak(`${text}\n${Object.values(headers).join("\n")}`),
  };
}

export function noAnswer(sentAtMs: number, reason: string): Result {
  const answer = resultOf(readAnswer({ status: 0, headers: {}, text: "" }, sentAtMs));
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
  return status === 503 && code === "SERVICE_UNAVAILABLE" && retryAfterSeconds >= 0;
}

export function isSuccess({ status, failure }: Result): boolean {
  return status >= 200 && status < 300 && failure === undefined;
}

/** False for the answer to a list or a create that the service has served. */
export function isUnserved({ status }: Result): boolean {
  return status !== 200 && status !== 201;
}

export function isAcknowledged({ acknowledgedPet }: Result): boolean {
  return acknowledgedPet !== undefined;
}

/** False without all three X-RateLimit headers. */
export function hasRateLimit({ rateLimit: { limit, remaining, reset } }: Result): boolean {
  return !Number.isNaN(limit + remaining + reset);
}

export function isCreate({ requestedPet }: Result): boolean {
  return requestedPet !== undefined;
}

export function isList(result: Result): boolean {
  return !isCreate(result);
}

export function count<One>(all: readonly One[], matches: (one: One) => boolean): number {
  return all.filter(matches).length;
}

export function groupBy<One>(all: readonly One[], keyOf: (one: One) => number): Map<number, One[]> {
  const groups = new Map<number, One[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one)) ?? [];
    group.push(one);
    groups.set(keyOf(one), group);
  }
  return groups;
}

/** NaN without results. */
export function slowestMs(results: readonly Timed[]): number {
  const durationsMs = results.map(({ durationMs }) => durationMs);
  return percentile(durationsMs, 100);
}
