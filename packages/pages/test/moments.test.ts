import { expect, it } from "vitest";
import { dateText, durationText, momentText } from "../browser/moments.js";

const nowMs = Date.UTC(2027, 10, 28, 14, 4, 17);

it.each([
  ["this minute", Date.UTC(2027, 10, 28, 14, 5), "UTC", "14:05:00 UTC"],
  ["this minute, far away", Date.UTC(2027, 10, 28, 14, 5), "America/Los_Angeles", "14:05:00 UTC (06:05:00 PST)"],
  ["the next day", Date.UTC(2027, 10, 29), "America/Los_Angeles", "00:00:00 UTC on November 29 (16:00:00 PST)"],
  [
    "the next day of both time zones",
    Date.UTC(2027, 10, 29, 12),
    "America/Los_Angeles",
    "12:00:00 UTC on November 29 (04:00:00 PST on November 29)",
  ],
])("names the time zone of a moment, and the date of another day: %s", (_when, ms, zone, expected) => {
  expect(momentText(ms, nowMs, zone)).toBe(expected);
});

it.each([
  ["UTC", Date.UTC(2030, 11, 5, 14, 5), "UTC", "December 5, 2030, 14:05:00 UTC"],
  [
    "the same day",
    Date.UTC(2030, 11, 5, 14, 5),
    "America/Los_Angeles",
    "December 5, 2030, 14:05:00 UTC (06:05:00 PST)",
  ],
  [
    "the day before",
    Date.UTC(2031, 0, 1),
    "America/Los_Angeles",
    "January 1, 2031, 00:00:00 UTC (December 31, 2030, 16:00:00 PST)",
  ],
])("names the date, the year and the time zone of an end, which is on %s there", (_when, ms, zone, expected) => {
  expect(dateText(ms, zone)).toBe(expected);
});

it.each([
  [-1, "now"],
  [0, "now"],
  [1, "in 1 second"],
  [42_001, "in 43 seconds"],
  [119_000, "in 119 seconds"],
  [119_001, "in 2 minutes"],
  [59 * 60_000, "in 59 minutes"],
  [59 * 60_000 + 1, "in 1 h 0 min"],
  [9 * 3_600_000 + 17 * 60_000, "in 9 h 17 min"],
  [48 * 3_600_000 - 60_000, "in 47 h 59 min"],
  [48 * 3_600_000 - 60_000 + 1, "in 2 days 0 h"],
  [48 * 3_600_000 + 1, "in 2 days 1 h"],
  [30 * 86_400_000, "in 30 days 0 h"],
])("says %i ms in words, rounded up", (ms, expected) => {
  // A line does not break between a number and its unit.
  expect(durationText(ms)).toBe(expected.replaceAll(/(\d) /g, "$1\u00a0"));
});
