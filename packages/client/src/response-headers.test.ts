import { expect, it } from "vitest";
import { readKeyExpiry, readNextCursor, readRateLimit, readRetryAfterMs } from "./response-headers.js";

it.each([
  ['</v1/pets?limit=2&cursor=AQ>; rel="next"', "AQ"],
  ["<https://a.example/v1/pets?cursor=AQ>;rel=next", "AQ"],
  ['<x>; rel="prev", </v1/pets?cursor=AQ-_>; title="a, b; rel=next"; rel="next"', "AQ-_"],
  ["", undefined],
  ['</v1/pets?cursor=AQ>; rel="prev", </v1/pets?cursor=AQ>; rel="next-archive"', undefined],
])("the Link header %j has the cursor %s", (field, cursor) => {
  expect(readNextCursor(new Headers({ Link: field }))).toBe(cursor);
});

it("rejects a link to the next page without a cursor", () => {
  expect(() => readNextCursor(new Headers({ Link: '</v1/pets>; rel="next"' }))).toThrow(TypeError);
});

it("measures the reset by the server's Date, and by the local clock without it", () => {
  const fields = { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "90" };
  const dated = new Headers({ ...fields, Date: "Thu, 01 Jan 1970 00:01:00 GMT" });
  expect(readRateLimit(dated, 3_600_000)).toEqual({ limit: 60, remaining: 0, reset: 90, resetInMs: 30_000 });
  expect(readRateLimit(new Headers(fields), 80_000)?.resetInMs).toBe(10_000);
});

it("reads no rate limit from a response without one of the headers", () => {
  const fields = { "X-RateLimit-Limit": "60", "X-RateLimit-Reset": "90" };
  expect(readRateLimit(new Headers(fields), 0)).toBeUndefined();
});

it.each([
  ["7", 7_000],
  ["Thu, 01 Jan 1970 00:01:07 GMT", 7_000],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ["1000000000000", undefined],
  ["7, 7", undefined],
])("Retry-After: %s is a wait of %s ms", (field, expected) => {
  const headers = new Headers({ "Retry-After": field, Date: "Thu, 01 Jan 1970 00:01:00 GMT" });
  expect(readRetryAfterMs(headers, 3_600_000)).toBe(expected);
});

it.each([
  ["Sun, 31 Jan 2027 12:00:59 GMT", Date.UTC(2027, 0, 31, 12, 0, 59)],
  ["", undefined],
  ["soon", undefined],
  ["1801396859", undefined],
  ["2027-01-31T12:00:59Z", undefined],
  ["Sun, 99 Jan 2027 12:00:59 GMT", undefined],
  ["Sun, 31 Jan 2027 12:00:59 GMT, Sun, 31 Jan 2027 12:00:59 GMT", undefined],
])("API-Key-Expires: %s is the end of the key at %s ms", (field, expected) => {
  expect(readKeyExpiry(new Headers({ "API-Key-Expires": field }))?.getTime()).toBe(expected);
});

it("reads no end of the key from a response without the header", () => {
  expect(readKeyExpiry(new Headers())).toBeUndefined();
});
