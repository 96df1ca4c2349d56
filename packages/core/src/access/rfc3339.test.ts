import { expect, it } from "vitest";
import { rfc3339 } from "./rfc3339.js";

it.each([
  [Date.UTC(2027, 0, 31, 12, 0, 59, 999), "2027-01-31T12:00:59.999Z"],
  [Date.UTC(9999, 11, 31, 23, 59, 59, 999), "9999-12-31T23:59:59.999Z"],
  // RFC 3339 has no later year.
  [Date.UTC(9999, 11, 31, 23, 59, 59, 999) + 1, undefined],
  [8.64e15, undefined],
  [-8.64e15, undefined],
  [Number.NaN, undefined],
])("%d ms after 1970 is %s", (ms, expected) => {
  expect(rfc3339(new Date(ms))).toBe(expected);
});
