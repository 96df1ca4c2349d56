/** Finds messages that must be refused as malformed. */
import type { IncomingMessage } from "node:http";
import { Problem } from "@petstore/core";
import { repeated, type SingleHeader } from "./single-headers.js";

const maxHeaderFields = 200;

/** `uri-host [ ":" port ]`: a bracketed IP literal or a reg-name, which may be empty (RFC 3986 section 3.2.2). */
const hostValue = /^(?:\[[\w.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Returns the problem of an invalid request, including one that the server has set with `request.destroy(problem)`. */
export function validateRequestMessage(request: IncomingMessage, host: SingleHeader): Problem | undefined {
  const { rawHeaders, httpVersion, errored } = request;
  if (errored instanceof Problem) return errored;
  if (rawHeaders.length > 2 * maxHeaderFields) {
    return new Problem("HEADERS_TOO_LARGE", `The header section has more than ${maxHeaderFields} fields.`);
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    return malformed("This service speaks HTTP/1.1 and HTTP/1.0 only.");
  }
  // With any other character, a proxy and Express may find different paths (RFC 9112 section 3.2, RFC 3986 section 2).
  if (/[^\x21-\x7e]|#/.test(request.url ?? "")) {
    return malformed("The request target can hold only printable ASCII characters without #; percent-encode others.");
  }
  if (!hasClearFraming(request)) return malformed("Transfer-Encoding can only be chunked, and only in HTTP/1.1.");
  return hostProblem(host, httpVersion);
}

/**
 * False for a Transfer-Encoding other than `chunked`, and for any in HTTP/1.0. A proxy may then find a different end of the
 * request. To prevent request smuggling, bytes after such a request are not read as another (RFC 9112 sections 6.1 and 6.3).
 */
export function hasClearFraming({ headers, httpVersion }: IncomingMessage): boolean {
  const coding = headers["transfer-encoding"];
  return coding === undefined || (httpVersion !== "1.0" && coding.toLowerCase() === "chunked");
}

/** RFC 9112 section 3.2. A proxy that filters by host may have checked only one of two Host headers. */
function hostProblem(host: SingleHeader, httpVersion: string): Problem | undefined {
  if (host === undefined) {
    return httpVersion === "1.1" ? malformed("An HTTP/1.1 request needs a Host header.") : undefined;
  }
  if (host === repeated) return malformed("The request has several Host headers; send one.");
  return hostValue.test(host) ? undefined : malformed("The Host header is not a host name or address with a port.");
}

function malformed(message: string): Problem {
  return new Problem("MALFORMED_REQUEST", message);
}
