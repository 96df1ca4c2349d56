import type { KeyPenalty } from "./penalties.js";
import { dayMs } from "./window.js";

/**
 * When a key that keeps calling after 429 is banned, and for how long ("Behaviour when the limit is exceeded" in the contract,
 * rule 3). A refusal starts an *episode* (see `Penalty`). Each further refusal in it is a *strike*, unless `graceMs` or
 * `earlyMs` excuses it. A program that honours Retry-After is refused at most once in an episode. So 120 such programs, which
 * share a key, get at most 119 strikes: the first refusal is not a strike.
 */
export interface BanPolicy {
  /** A ban needs at least this many strikes in one episode. 0 switches bans off. */
  readonly minimumStrikes: number;
  /**
   * A ban needs this many strikes for each unit of the account's minute limit, and at least `minimumStrikes`. An episode lasts
   * at most a minute. So with the default of 2, a caller that sends less than twice its limit in a minute is never
   * banned, even if its day has no units left.
   */
  readonly strikesPerUnit: number;
  /** Refusals this soon after the first one of an episode are not strikes: they were already in flight. */
  readonly graceMs: number;
  /** Refusals this soon before the retry time are not strikes: the clock of the client runs a little fast. */
  readonly earlyMs: number;
  readonly longestEpisodeMs: number;
  readonly firstBanMs: number;
  readonly longestBanMs: number;
  /** A ban that begins within this time after the end of the last ban lasts twice as long, up to `longestBanMs`. */
  readonly memoryMs: number;
}

export const defaultBanPolicy: BanPolicy = {
  minimumStrikes: 120,
  strikesPerUnit: 2,
  graceMs: 2_000,
  earlyMs: 1_000,
  longestEpisodeMs: 60_000,
  firstBanMs: 60_000,
  longestBanMs: 3_600_000,
  memoryMs: 86_400_000,
};

/**
 * The state of a key after a refusal. An episode starts with a refusal and ends at the earliest retry time of its
 * refusals, and after `longestEpisodeMs` at the latest. Its strikes end with it.
 */
export interface Penalty {
  /** The start of the present episode, or of the last ban if no episode has begun since. */
  readonly episodeStartMs: number;
  readonly retryAtMs: number;
  readonly strikes: number;
  /** 0 when the key was never banned. */
  readonly bannedUntilMs: number;
  /** Bans in a row. The next ban lasts `firstBanMs * 2 ** banLevel`, and `longestBanMs` at most. */
  readonly banLevel: number;
}

const untouched: Penalty = { episodeStartMs: 0, retryAtMs: 0, strikes: 0, bannedUntilMs: 0, banLevel: 0 };

/** The key is now banned if the new `bannedUntilMs` is after `call.nowMs`. */
export function afterRefusal(
  penalty: Penalty | undefined,
  call: { readonly nowMs: number; readonly retryAtMs: number; readonly minuteLimit: number },
  policy: BanPolicy,
): Penalty {
  const before = penalty ?? untouched;
  if (episodeEndMs(before, policy) <= call.nowMs) {
    return { ...before, episodeStartMs: call.nowMs, retryAtMs: call.retryAtMs, strikes: 0 };
  }
  const retryAtMs = Math.min(before.retryAtMs, call.retryAtMs);
  const wasInFlight = call.nowMs - before.episodeStartMs <= policy.graceMs;
  const isEarly = retryAtMs - call.nowMs <= policy.earlyMs;
  const strikes = before.strikes + (wasInFlight || isEarly ? 0 : 1);
  const isBanned = policy.minimumStrikes > 0 && strikes >= strikesThatBan(call.minuteLimit, policy);
  return isBanned ? ban(before, call.nowMs, policy) : { ...before, retryAtMs, strikes };
}

/** What a penalty means for its key now. `undefined` if the key is not banned and has no strikes. */
export function currentPenalty(
  key: string,
  penalty: Penalty,
  now: { readonly nowMs: number; readonly minuteLimit: number },
  policy: BanPolicy,
): KeyPenalty | undefined {
  const isBanned = penalty.bannedUntilMs > now.nowMs;
  const strikes = episodeEndMs(penalty, policy) > now.nowMs ? penalty.strikes : 0;
  if (!isBanned && strikes === 0) return undefined;
  return {
    key,
    sinceMs: now.nowMs - penalty.episodeStartMs,
    ...(isBanned && { bannedUntilMs: penalty.bannedUntilMs }),
    strikes,
    strikesThatBan: policy.minimumStrikes === 0 ? 0 : strikesThatBan(now.minuteLimit, policy),
  };
}

function episodeEndMs({ retryAtMs, episodeStartMs }: Penalty, { longestEpisodeMs }: BanPolicy): number {
  return Math.min(retryAtMs, episodeStartMs + longestEpisodeMs);
}

function strikesThatBan(minuteLimit: number, { minimumStrikes, strikesPerUnit }: BanPolicy): number {
  return Math.max(minimumStrikes, strikesPerUnit * minuteLimit);
}

/** The penalty of a ban whose start and level are unknown. It counts as the first ban in a row, begun at `nowMs`. */
export function penaltyOfBan({ nowMs, bannedUntilMs }: { nowMs: number; bannedUntilMs: number }): Penalty {
  return { ...untouched, episodeStartMs: nowMs, bannedUntilMs, banLevel: 1 };
}

/** The instant from which a penalty can be forgotten: two days after its last effect, in case the clock steps back. */
export function penaltyExpiresAtMs(penalty: Penalty, policy: BanPolicy): number {
  const rememberedUntilMs = penalty.bannedUntilMs === 0 ? 0 : penalty.bannedUntilMs + policy.memoryMs;
  return Math.max(penalty.retryAtMs, rememberedUntilMs) + 2 * dayMs;
}

function ban(before: Penalty, nowMs: number, policy: BanPolicy): Penalty {
  const remembered = before.bannedUntilMs > 0 && nowMs < before.bannedUntilMs + policy.memoryMs;
  const banLevel = remembered ? before.banLevel : 0;
  const lengthMs = Math.min(policy.firstBanMs * 2 ** banLevel, policy.longestBanMs);
  return { ...untouched, episodeStartMs: nowMs, bannedUntilMs: nowMs + lengthMs, banLevel: banLevel + 1 };
}
