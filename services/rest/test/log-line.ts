import { expect } from "vitest";

const fields =
  /^(level|time|requestId|traceId|clientAddress|method|route|status|durationMs|account|key|code|aborted|error|msg)$/;

/** The line is one JSON object, in printable ASCII, of fields that the operations guide describes. */
export function expectKnownFields(line: string): void {
  expect(line).toMatch(/^[\x20-\x7e]+\n$/);
  const entry = JSON.parse(line) as Record<string, unknown>;
  expect(Object.keys(entry).filter((name) => !fields.test(name))).toEqual([]);
  // No field appears twice: some readers take the first one, others the last one.
  expect(line).toBe(`${JSON.stringify(entry)}\n`);
  if (entry.level !== "info") return;
  expect(entry.requestId).toMatch(/^[\w.:+/=-]{1,128}$/);
  expect(entry.clientAddress).toBe("127.0.0.1");
  expect(entry.route).toMatch(/^(\/v1\/pets|\/v1\/pets\/\{petId\}|preflight|unmatched|malformed)$/);
}

/** The text of the lines without the ids of requests, which a client may choose. */
export function withoutIds(lines: readonly string[]): string {
  return lines.join("").replaceAll(/"requestId":"[^"]*"/g, "");
}
