import { describe, expect, it } from "vitest";
import { type Refused, reportedWindow, retryAfterSeconds } from "../../src/quota/decision.js";
import type { WindowState } from "../../src/quota/window.js";

const nowMs = Date.UTC(2031, 4, 14, 12);
const minute: WindowState = { limit: 60, used: 50, resetAtMs: nowMs + 60_000 };
const day: WindowState = { limit: 1_000, used: 500, resetAtMs: nowMs + 3_600_000 };
const retryAtMs = minute.resetAtMs;
const refusal: Refused = { outcome: "refused", mode: "local", nowMs, minute, day, by: "minute", retryAtMs };

describe("reportedWindow", () => {
  it.each([
    ["the window with least remaining", { minute, day }, minute],
    ["the window with least remaining", { minute, day: { ...day, used: 991 } }, { ...day, used: 991 }],
    ["on a tie the later reset", { minute, day: { ...day, used: 990 } }, { ...day, used: 990 }],
    [
      "nothing remaining rather than less than nothing",
      { minute: { ...minute, used: 90 }, day: { ...day, used: 1_000 } },
      { ...day, used: 1_000 },
    ],
  ] as const)("is %s", (_, windows, reported) => {
    expect(reportedWindow({ nowMs, ...windows })).toEqual(reported);
    expect(reportedWindow({ outcome: "admitted", mode: "local", nowMs, ...windows })).toEqual(reported);
  });

  const both = { minute: { ...minute, used: 60 }, day: { ...day, used: 998 } };
  it.each([
    ["the one that refused, even if the other has less remaining", both, "day", both.day],
    ["the one that refused", both, "minute", both.minute],
    [
      "the one with least remaining where both refuse and end together",
      { minute: { ...minute, used: 59 }, day: { ...day, used: 998, resetAtMs: minute.resetAtMs } },
      "day",
      { ...minute, used: 59 },
    ],
  ] as const)("of a refusal is %s", (_, windows, by, reported) => {
    expect(reportedWindow({ ...refusal, ...windows, by })).toEqual(reported);
  });
});

describe("retryAfterSeconds", () => {
  it.each([
    [1, 1],
    [999, 1],
    [1_000, 2],
    [1_001, 2],
    [59_999, 60],
    [60_000, 61],
  ])("%i ms before the reset is %i s, so that a request made then comes after it", (beforeMs, seconds) => {
    expect(retryAfterSeconds({ ...refusal, retryAtMs: nowMs + beforeMs })).toBe(seconds);
  });
});
