import { expect, it } from "vitest";
import { durationText, momentText } from "../browser/moments.js";

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
  [-1, "now"],
  [0, "now"],
  [1, "in 1 second"],
  [42_001, "in 43 seconds"],
  [119_000, "in 119 seconds"],
  [119_001, "in 2 minutes"],
  [59 * 60_000, "in 59 minutes"],
  [59 * 60_000 + 1, "in 1 h 0 min"],
  [9 * 3_600_000 + 17 * 60_000, "in 9 h 17 min"],
])("says %i ms in words, rounded up", (ms, expected) => {
  expect(durationText(ms)).toBe(expected);
});
