import { dayMs } from "./window.js";

/**
 * When a key that keeps calling after 429 is banned (contract, "Behaviour when the limit is exceeded", rule 3), and for
 * how long. Calls in flight when the units ran out and clients that wake a hair early are forgiven, so a parallel
 * client that honours Retry-After is never banned; a loop that ignores it is banned within seconds.
 */
export interface BanPolicy {
  /** Strikes within one episode that ban a key, unless a quarter of the minute limit is more. 0 switches bans off. */
  readonly strikes: number;
  /** Refusals this soon after an episode's first one are calls that were already under way. */
  readonly graceMs: number;
  /** Refusals this close to the end of an episode are clocks that run a little fast. */
  readonly earlyMs: number;
  /** The first ban's length; each further one doubles it. */
  readonly firstBanMs: number;
  readonly longestBanMs: number;
  /** How long after a ban's end the next one would still be longer. */
  readonly memoryMs: number;
}

export const defaultBanPolicy: BanPolicy = {
  strikes: 20,
  graceMs: 2_000,
  earlyMs: 1_000,
  firstBanMs: 60_000,
  longestBanMs: 3_600_000,
  memoryMs: 86_400_000,
};

/**
 * What is remembered of a key after a refusal. An episode runs from its first refusal to the earliest instant any of its
 * refusals was told to come back, and its strikes end with it: each of the programs that share a key and wait as told is
 * refused at most once in it, also when the day ran out for one and the minute for another.
 */
export interface Penalty {
  readonly episodeStartMs: number;
  readonly episodeEndMs: number;
  /** Refusals of the episode after its first one. */
  readonly furtherRefusals: number;
  readonly strikes: number;
  /** 0 when the key was never banned. */
  readonly bannedUntilMs: number;
  /** How many bans in a row: the next one lasts `firstBanMs * 2 ** banLevel`. */
  readonly banLevel: number;
}

export interface RefusedCall {
  readonly nowMs: number;
  readonly retryAtMs: number;
  readonly minuteLimit: number;
}

const untouched: Penalty = {
  episodeStartMs: 0,
  episodeEndMs: 0,
  furtherRefusals: 0,
  strikes: 0,
  bannedUntilMs: 0,
  banLevel: 0,
};

/** The penalty after one more refusal. It bans the key when `bannedUntilMs` lies after the call. */
export function afterRefusal(penalty: Penalty | undefined, call: RefusedCall, policy: BanPolicy): Penalty {
  const before = penalty ?? untouched;
  if (before.episodeEndMs <= call.nowMs) {
    return { ...before, episodeStartMs: call.nowMs, episodeEndMs: call.retryAtMs, furtherRefusals: 0, strikes: 0 };
  }
  const furtherRefusals = before.furtherRefusals + 1;
  const episodeEndMs = Math.min(before.episodeEndMs, call.retryAtMs);
  const inFlight = call.nowMs - before.episodeStartMs <= policy.graceMs && furtherRefusals <= call.minuteLimit;
  const early = episodeEndMs - call.nowMs <= policy.earlyMs;
  const strikes = before.strikes + (inFlight || early ? 0 : 1);
  if (policy.strikes === 0 || strikes < Math.max(policy.strikes, Math.ceil(call.minuteLimit / 4))) {
    return { ...before, episodeEndMs, furtherRefusals, strikes };
  }
  return ban(before, call.nowMs, policy);
}

/** The penalty of a key of which only its ban is known: the first of its row. */
export function banEnding(bannedUntilMs: number): Penalty {
  return { ...untouched, bannedUntilMs, banLevel: 1 };
}

/**
 * The instant from which a penalty can be forgotten: it says nothing any more, and would not under a clock that steps
 * back by two days, which is as far as a day's window may be kept.
 */
export function penaltyExpiresAtMs(penalty: Penalty, policy: BanPolicy): number {
  const rememberedUntilMs = penalty.bannedUntilMs === 0 ? 0 : penalty.bannedUntilMs + policy.memoryMs;
  return Math.max(penalty.episodeEndMs, rememberedUntilMs) + 2 * dayMs;
}

function ban(before: Penalty, nowMs: number, policy: BanPolicy): Penalty {
  const remembered = before.bannedUntilMs > 0 && nowMs < before.bannedUntilMs + policy.memoryMs;
  const banLevel = remembered ? before.banLevel : 0;
  const lengthMs = Math.min(policy.firstBanMs * 2 ** banLevel, policy.longestBanMs);
  return { ...untouched, bannedUntilMs: nowMs + lengthMs, banLevel: banLevel + 1 };
}
