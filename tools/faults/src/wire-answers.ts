import type { RawAnswer } from "./raw-client.js";

const triple = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/** Whether it carries each of the X-RateLimit headers once. */
export function hasTripleOnce(answer: RawAnswer): boolean {
  return triple.every((name) => answer.count(name) === 1);
}

/** Whether its body is the Error shape, or GraphQL's own around it, and says the same status. */
export function hasErrorBody({ status, text }: RawAnswer): boolean {
  const error = errorIn(text);
  return error.status === status && /^[A-Z_]+$/.test(`${error.code}`) && `${error.message ?? ""}` !== "";
}

function errorIn(text: string): { readonly [name: string]: unknown } {
  try {
    const body = JSON.parse(text) ?? {};
    const [first] = body.errors ?? [];
    return first === undefined ? body : { message: first.message, ...first.extensions };
  } catch {
    // No JSON is no Error body.
    return {};
  }
}
