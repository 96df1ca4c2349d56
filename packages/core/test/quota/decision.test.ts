import { describe, expect, it } from "vitest";
import { reportedWindow, retryAfterSeconds } from "../../src/quota/decision.js";

const nowMs = Date.UTC(2031, 4, 14, 12);
const minuteResetAtMs = nowMs + 60_000;
const dayResetAtMs = nowMs + 3_600_000;

describe("the reported window", () => {
  it.each([
    ["has the least remaining", 50, 500, dayResetAtMs, undefined, "minute"],
    ["has the least remaining", 50, 991, dayResetAtMs, undefined, "day"],
    ["resets later, if both have the same number remaining", 50, 990, dayResetAtMs, undefined, "day"],
    ["resets later, if a lowered plan leaves nothing in either", 90, 1_000, dayResetAtMs, undefined, "day"],
    ["refused", 60, 998, dayResetAtMs, "minute", "minute"],
    ["refused, even if the other has less remaining", 60, 998, dayResetAtMs, "day", "day"],
    ["has the least remaining, if the day refused and both end together", 59, 998, minuteResetAtMs, "day", "minute"],
  ] as const)("%s", (_, minuteUsed, dayUsed, dayEndsAtMs, by, reported) => {
    const minute = { limit: 60, used: minuteUsed, resetAtMs: minuteResetAtMs };
    const day = { limit: 1_000, used: dayUsed, resetAtMs: dayEndsAtMs };
    const windows = { mode: "local", nowMs, minute, day } as const;
    const decision = by === undefined ? windows : { ...windows, outcome: "refused" as const, by, retryAtMs: nowMs };
    expect(reportedWindow(decision)).toBe(decision[reported]);
  });
});

it.each([
  [1, 1],
  [999, 1],
  [1_000, 2],
  [1_001, 2],
])("Retry-After %i ms before the reset is %i s, so that a request made then comes after it", (beforeMs, seconds) => {
  const window = { limit: 60, used: 60, resetAtMs: minuteResetAtMs };
  const refused = { outcome: "refused", mode: "local", nowMs, minute: window, day: window, by: "minute" } as const;
  expect(retryAfterSeconds({ ...refused, retryAtMs: nowMs + beforeMs })).toBe(seconds);
});
