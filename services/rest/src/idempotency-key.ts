import type { IncomingMessage } from "node:http";
import { Problem } from "@petstore/core";
import { countHeader } from "@petstore/http";

/**
 * The Idempotency-Key of a request, unquoted: the draft (draft-ietf-httpapi-idempotency-key-header-07, section 2.1)
 * wants a quoted string, most clients send it bare. `undefined` when there is none.
 */
export function idempotencyKey(req: IncomingMessage): string | undefined {
  const header = req.headers["idempotency-key"];
  if (header === undefined) return undefined;
  if (typeof header !== "string" || countHeader(req, "idempotency-key") > 1) {
    throw new Problem("VALIDATION_FAILED", "Idempotency-Key must be sent once");
  }
  if (!header.startsWith('"')) return header;
  // RFC 8941 section 3.3.3: inside the quotes only \" and \\ are escapes, and no other quote or backslash may stand.
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header);
  if (quoted === null) throw new Problem("VALIDATION_FAILED", "Idempotency-Key must end the quote it begins with");
  return (quoted[1] ?? "").replace(/\\(["\\])/g, "$1");
}
