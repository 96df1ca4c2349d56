/** Reads the headers that must not be repeated. */
import type { IncomingMessage } from "node:http";

/** Stands for a header that was sent more than once: a proxy may have checked only one of the values. */
export const repeated: unique symbol = Symbol("a repeated header");

/** `undefined`: the header was not sent. */
export type SingleHeader = string | undefined | typeof repeated;

/** The headers of a request that must not be repeated. */
export interface SingleHeaders {
  readonly host: SingleHeader;
  readonly authorization: SingleHeader;
  readonly contentType: SingleHeader;
  readonly idempotencyKey: SingleHeader;
}

/**
 * Reads them in one pass over the header section. `request.headers` hides that a header was repeated.
 *
 * Not `headersDistinct`: before Node.js 20.20.2, 22.22.2 and 24.14.1 it throws for a header `__proto__` (CVE-2026-21710).
 */
export function readSingleHeaders({ rawHeaders }: IncomingMessage): SingleHeaders {
  const headers: Record<keyof SingleHeaders, SingleHeader> = {
    host: undefined,
    authorization: undefined,
    contentType: undefined,
    idempotencyKey: undefined,
  };
  // Names and values in turn.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const property = propertyOf(rawHeaders[index] ?? "");
    if (property === undefined) continue;
    headers[property] = headers[property] === undefined ? (rawHeaders[index + 1] ?? "") : repeated;
  }
  return headers;
}

/** Compares the length first, so that most headers need no lower-case copy. */
function propertyOf(name: string): keyof SingleHeaders | undefined {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === "host" ? "host" : undefined;
    case 12:
      return name.toLowerCase() === "content-type" ? "contentType" : undefined;
    case 13:
      return name.toLowerCase() === "authorization" ? "authorization" : undefined;
    case 15:
      return name.toLowerCase() === "idempotency-key" ? "idempotencyKey" : undefined;
    default:
      return undefined;
  }
}
