import type { IncomingMessage } from "node:http";

/**
 * The values of a header, one for each time that it was sent. `name` is in lower case.
 *
 * Not `headersDistinct`: before Node.js 20.20.2, 22.22.2 and 24.14.1 it throws for a header `__proto__` (CVE-2026-21710).
 */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = [];
  // Names and values in turn.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index];
    if (sent?.length === name.length && sent.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? "");
  }
  return values;
}
