import type { IncomingMessage } from "node:http";
import { Problem } from "@petstore/core";

/**
 * The bearer token of a request (contract, "Authentication"; RFC 6750 section 2.1), or the 401 that explains what is
 * missing. Node keeps the first of several Authorization headers. More than one is refused here, because a proxy may have
 * checked another one.
 */
export function bearerToken(req: IncomingMessage): string | Problem {
  const header = req.headers.authorization;
  if (header === undefined) return new Problem("API_KEY_MISSING");
  if (countHeader(req, "authorization") > 1) {
    return new Problem("API_KEY_INVALID", "Exactly one Authorization header must be sent.");
  }
  const match = /^bearer(?: +(.*))?$/i.exec(header);
  if (match === null) return new Problem("API_KEY_MISSING", "The Authorization header must use the Bearer scheme.");
  return match[1] ? match[1] : new Problem("API_KEY_MISSING");
}

/** The WWW-Authenticate challenge of a 401 (RFC 6750 section 3). */
export function challenge(problem: Problem): string {
  const sent = problem.code !== "API_KEY_MISSING";
  return sent ? 'Bearer realm="petstore", error="invalid_token"' : 'Bearer realm="petstore"';
}

/** True when a text contains an API key, or something that looks like one. */
export function containsApiKey(text: string): boolean {
  return /pets_(live|test)_/i.test(text);
}

/** Counts the header fields of this name (in lower case) before Node merges them. */
export function countHeader(req: IncomingMessage, name: string): number {
  let count = 0;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const field = req.rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) count++;
  }
  return count;
}
