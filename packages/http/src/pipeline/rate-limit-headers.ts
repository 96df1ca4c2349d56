import { type Decision, remaining, reportedWindow, type Windows } from "@petstore/core";

export type HeaderField = readonly [name: string, value: string];

/**
 * The contract's triple, which speaks of one window, and the IETF fields of draft-ietf-httpapi-ratelimit-headers-10,
 * which list both.
 */
export function rateLimitHeaders(decision: Decision | Windows): HeaderField[] {
  const { minute, day, nowMs } = decision;
  const reported = reportedWindow(decision);
  return [
    ["X-RateLimit-Limit", `${reported.limit}`],
    ["X-RateLimit-Remaining", `${remaining(reported)}`],
    ["X-RateLimit-Reset", `${Math.ceil(reported.resetAtMs / 1000)}`],
    ["RateLimit-Policy", `"minute";q=${minute.limit};w=60, "day";q=${day.limit};w=86400`],
    [
      "RateLimit",
      `"minute";r=${remaining(minute)};t=${secondsUntil(minute.resetAtMs, nowMs)}, ` +
        `"day";r=${remaining(day)};t=${secondsUntil(day.resetAtMs, nowMs)}`,
    ],
  ];
}

function secondsUntil(resetAtMs: number, nowMs: number): number {
  return Math.ceil((resetAtMs - nowMs) / 1000);
}
