import type { IncomingMessage } from "node:http";
import { Problem } from "@petstore/core";

const maxHeaderFields = 200;

/** `uri-host [ ":" port ]`: a bracketed IP literal or a reg-name, which may be empty (RFC 3986 section 3.2.2). */
const hostValue = /^(?:\[[\w.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Also returns the problem with which the server has destroyed the request. `undefined` for a valid request. */
export function validateRequestMessage(request: IncomingMessage): Problem | undefined {
  const { rawHeaders, httpVersion, errored } = request;
  if (errored instanceof Problem) return errored;
  if (rawHeaders.length > 2 * maxHeaderFields) {
    return new Problem("HEADERS_TOO_LARGE", `The header section has more than ${maxHeaderFields} fields.`);
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return malformed("This service speaks HTTP/1.1 and HTTP/1.0 only.");
  }
  // With other characters, or with #, Express and Node find different paths (RFC 9112 section 3.2, RFC 3986 section 2).
  if (/[^\x21-\x7e]|#/.test(request.url ?? "")) {
    return malformed("The request target can hold only printable ASCII characters without #; percent-encode others.");
  }
  if (!hasClearFraming(request)) return malformed("Transfer-Encoding can only be chunked, and only in HTTP/1.1.");
  return hostProblem(request);
}

/**
 * Prevents request smuggling. With a Transfer-Encoding other than `chunked`, or any in HTTP/1.0, a proxy and this service may
 * disagree on where the request ends. So the bytes that follow are never read as a request (RFC 9112 sections 6.1 and 6.3).
 */
export function hasClearFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding === undefined || (httpVersion !== "1.0" && coding.toLowerCase() === "chunked");
}

/** RFC 9112 section 3.2. With two Host headers a client could bypass a proxy that filters by the other one. */
function hostProblem(request: IncomingMessage): Problem | undefined {
  const [host, another] = request.headersDistinct.host ?? [];
  if (host === undefined) {
    return request.httpVersion === "1.1" ? malformed("An HTTP/1.1 request needs a Host header.") : undefined;
  }
  if (another !== undefined) return malformed("A request has one Host header, not several.");
  return hostValue.test(host) ? undefined : malformed("The Host header is not a host name or address with a port.");
}

function malformed(message: string): Problem {
  return new Problem("MALFORMED_REQUEST", message);
}
