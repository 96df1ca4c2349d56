/** Defines the decisions of a quota, and what a response shows of them. */
import type { WindowState, Windows } from "./window.js";

export type Decision = Admitted | Refused | Banned | Impossible;

/** Which engine decides: this process alone, Redis for all instances, or this process while Redis is unavailable. */
export type QuotaMode = "local" | "shared" | "fallback";

interface Decided extends Windows {
  readonly mode: QuotaMode;
}

export interface Admitted extends Decided {
  readonly outcome: "admitted";
}

/** A window had too few units left. Nothing was reserved, and a refused extension still holds its one unit. */
export interface Refused extends Decided {
  readonly outcome: "refused";
  /** The window with too few units left, for an extension with its held unit used. In an outage, only the share of this instance counts. */
  readonly by: "minute" | "day";
  readonly retryAtMs: number;
}

/** The key is banned. Nothing was reserved, and the request did not lengthen the ban. */
export interface Banned extends Decided {
  readonly outcome: "banned";
  readonly bannedUntilMs: number;
  /** True for the refusal that began the ban. */
  readonly beginsBan: boolean;
  /** The end of the ban or the reset of the window with too few units left: the later of the two. */
  readonly retryAtMs: number;
}

/** The request costs more than a limit, so waiting does not help. Nothing was reserved. The refusal is not a strike. */
interface Impossible extends Decided {
  readonly outcome: "impossible";
}

/**
 * The window in the X-RateLimit headers: the window that refused, else the window with the least remaining.
 *
 * In the last minute of a day, both windows reset at the same second, so a client cannot tell them apart, and its Remaining must
 * not rise within one Reset. The window with the least remaining is therefore reported then, even after a refusal by the other
 * one. Example: 1 unit is left in the minute and 2 in the day, so responses show 1. If the day then refuses a cost of 3, the
 * response must show 1, not 2.
 */
export function reportedWindow(decision: Windows | Decision): WindowState {
  const { minute, day } = decision;
  const refused = "outcome" in decision && decision.outcome === "refused";
  if (refused && minute.resetAtMs !== day.resetAtMs) return decision[decision.by];
  // If both have the same number remaining: the day, which ends later.
  return remaining(minute) < remaining(day) ? minute : day;
}

/** The window with too few units left for `cost`. If both have too few, it is the day, because only its reset helps. */
export function refusingWindow({ minute, day }: Windows, cost: number): "minute" | "day" | undefined {
  if (day.used + cost > day.limit) return "day";
  if (minute.used + cost > minute.limit) return "minute";
  return undefined;
}

export function bannedDecision(
  mode: QuotaMode,
  windows: Windows,
  ban: { readonly bannedUntilMs: number; readonly beginsBan: boolean },
  cost: number,
): Banned {
  const by = refusingWindow(windows, cost);
  const roomAtMs = by === undefined ? 0 : windows[by].resetAtMs;
  return { outcome: "banned", mode, ...windows, ...ban, retryAtMs: Math.max(ban.bannedUntilMs, roomAtMs) };
}

/** 0 if the plan was lowered below the units that were already used. */
export function remaining(window: WindowState): number {
  return Math.max(0, window.limit - window.used);
}

/** For Retry-After (RFC 9110 section 10.2.3). A request that is sent exactly then comes after the instant. */
export function retryAfterSeconds(decision: Refused | Banned): number {
  return secondsUntil(decision.retryAtMs, decision);
}

/** The fewest whole seconds after which the instant has passed. All headers with a wait use it, so they agree. */
export function secondsUntil(atMs: number, { nowMs }: Pick<Windows, "nowMs">): number {
  return Math.floor((atMs - nowMs) / 1000) + 1;
}
