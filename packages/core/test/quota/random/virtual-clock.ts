import type { BanPolicy } from "../../../src/quota/ban-policy.js";
import type { Decision } from "../../../src/quota/decision.js";

/** An instant at which a reply may change, known from earlier replies. */
type Edge = "minuteReset" | "dayReset" | "retry" | "graceEnd" | "earlyStart" | "episodeEnd" | "banEnd" | "memoryEnd";

export type Move = { readonly waitMs: number } | { readonly to: Edge; readonly offsetMs: number };

interface Who {
  readonly account: string;
  readonly key: string;
}

export interface VirtualClock {
  /** Returns the instant after the move. A jump goes forward only; the clock does not move to an unknown or past edge. */
  move(move: Move, who: Who): number;
  observe(decision: Decision, who: Who): void;
}

/** The clock of a script. It learns the edges of each key from the decisions. */
export function createVirtualClock(
  startMs: number,
  { fallBackMs, banPolicy }: { readonly fallBackMs: number; readonly banPolicy: BanPolicy },
): VirtualClock {
  let nowMs = startMs;
  let latestMs = startMs;
  const edges = new Map<string, Partial<Record<Edge, number>>>();

  return {
    move(move, who) {
      const edgeMs = "to" in move ? edges.get(nameOf(who))?.[move.to] : undefined;
      if ("waitMs" in move) nowMs = Math.max(nowMs + move.waitMs, latestMs - fallBackMs);
      else if (edgeMs !== undefined) nowMs = Math.max(nowMs, edgeMs + move.offsetMs);
      latestMs = Math.max(latestMs, nowMs);
      return nowMs;
    },
    observe(decision, who) {
      const before = edges.get(nameOf(who)) ?? {};
      const after = { ...before, minuteReset: decision.minute.resetAtMs, dayReset: decision.day.resetAtMs };
      edges.set(nameOf(who), { ...after, ...penaltyEdges(decision, before, banPolicy) });
    },
  };
}

function penaltyEdges(
  decision: Decision,
  before: Partial<Record<Edge, number>>,
  { graceMs, earlyMs, longestEpisodeMs, memoryMs }: BanPolicy,
): Partial<Record<Edge, number>> {
  if (decision.outcome === "banned") {
    const { bannedUntilMs, retryAtMs } = decision;
    return { retry: retryAtMs, banEnd: bannedUntilMs, memoryEnd: bannedUntilMs + memoryMs };
  }
  if (decision.outcome !== "refused") return {};
  const { nowMs, retryAtMs } = decision;
  const { retry = 0, episodeEnd = 0 } = before;
  const running = nowMs < retry && nowMs < episodeEnd;
  return {
    retry: retryAtMs,
    earlyStart: retryAtMs - earlyMs,
    graceEnd: running ? (before.graceEnd ?? 0) : nowMs + graceMs,
    episodeEnd: running ? (before.episodeEnd ?? 0) : nowMs + longestEpisodeMs,
  };
}

function nameOf({ account, key }: Who): string {
  return `${account} ${key}`;
}
