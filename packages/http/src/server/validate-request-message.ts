import type { IncomingMessage } from "node:http";
import { Problem } from "@petstore/core";
import { headerValues } from "./header-values.js";

const maxHeaderFields = 200;

/** `uri-host [ ":" port ]`: a bracketed IP literal or a reg-name, which may be empty (RFC 3986 section 3.2.2). */
const hostValue = /^(?:\[[\w.:]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/** Returns the problem of an invalid request, also if the server has set it with `request.destroy(problem)`. */
export function validateRequestMessage(request: IncomingMessage): Problem | undefined {
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
  return hostProblem(request);
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
function hostProblem(request: IncomingMessage): Problem | undefined {
  const [host, another] = headerValues(request, "host");
  if (host === undefined) {
    return request.httpVersion === "1.1" ? malformed("An HTTP/1.1 request needs a Host header.") : undefined;
  }
  if (another !== undefined) return malformed("The request has several Host headers; send one.");
  return hostValue.test(host) ? undefined : malformed("The Host header is not a host name or address with a port.");
}

function malformed(message: string): Problem {
  return new Problem("MALFORMED_REQUEST", message);
}
