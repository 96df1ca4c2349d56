import { openRawClient, type RawAnswer } from "@petstore/harness/network";
import { count } from "../environment/results.js";

const rateLimitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

export interface RawExchange {
  readonly answers: readonly RawAnswer[];
  /** The server ended the connection with RST. */
  readonly wasReset: boolean;
}

/** Sends all bytes on a connection, regardless of answers, and waits for one answer. */
export async function sendRaw(port: number, bytes: readonly (string | Buffer)[]): Promise<RawExchange> {
  using client = openRawClient(port);
  for (const piece of bytes) await client.send(piece);
  await client.until(1);
  return { answers: [...client.answers()], wasReset: client.wasReset() };
}

/** True for an answer with each X-RateLimit header exactly once. */
export function hasRateLimitOnce({ fields }: RawAnswer): boolean {
  return rateLimitHeaders.every((header) => count(fields, ([name]) => name === header) === 1);
}

/** True for the error body of REST or GraphQL with the status of the answer. */
export function hasErrorBody({ status, json }: RawAnswer): boolean {
  const body = (json ?? {}) as ErrorBody & {
    readonly errors?: readonly (ErrorBody & { readonly extensions: ErrorBody })[];
  };
  const [first] = body.errors ?? [];
  const error = first === undefined ? body : { ...first.extensions, message: first.message };
  return error.status === status && /^[A-Z_]+$/.test(`${error.code}`) && `${error.message ?? ""}` !== "";
}

interface ErrorBody {
  readonly status?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
}
