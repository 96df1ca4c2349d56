import type { FaultsByModule } from "./plant.js";

/** Mistakes in bans and their length. */
export const banFaults: FaultsByModule = {
  "engines/reserve-script": {
    "strikes outlive their episode": ["episodeRetryAt, strikes = now, retryAt, 0", "episodeRetryAt = now, retryAt"],
    "an episode ends 1 ms late": [
      `episodeStart + \${policy.longestEpisodeMs}) <= now`,
      `episodeStart + \${policy.longestEpisodeMs}) < now`,
    ],
    "an episode has no longest time": [
      `math.min(episodeRetryAt, episodeStart + \${policy.longestEpisodeMs})`,
      "episodeRetryAt",
    ],
    "an episode lasts until its first refusal may come back": [
      "episodeRetryAt = math.min(episodeRetryAt, retryAt)",
      "",
    ],
    "the grace ends 1 ms early": ["now - episodeStart <= ", "now - episodeStart < "],
    "early callers are forgiven 1 ms too late": ["episodeRetryAt - now <= ", "episodeRetryAt - now < "],
    "a ban needs one strike more": ["strikes >= strikesThatBan", "strikes > strikesThatBan"],
    "the fewest strikes ban under any limit": [`, \${policy.strikesPerUnit} * minuteLimit)`, ")"],
    "a low limit bans with fewer than the fewest strikes": [`math.max(\${policy.minimumStrikes}, `, "math.max("],
    "a request strikes as often as it costs": ["strikes = strikes + 1", "strikes = strikes + cost"],
    "requests lengthen a ban": [
      `if bannedUntil > now then
    outcome`,
      `if bannedUntil > now then
    if cost > 0 then
      bannedUntil, hasRefused = bannedUntil + 1000, true
    end
    outcome`,
    ],
    "a ban ends 1 ms late": [
      `if bannedUntil > now then
`,
      `if bannedUntil >= now then
`,
    ],
    "a ban keeps the strikes that led to it": [
      "episodeStart, episodeRetryAt, strikes, level = 0, 0, 0, level + 1",
      "level = level + 1",
    ],
    "the second ban is no longer than the first": [
      "strikes, level = 0, 0, 0, level + 1",
      "strikes, level = 0, 0, 0, level",
    ],
    "bans double without end": [
      `math.min(\${policy.firstBanMs} * 2 ^ level, \${policy.longestBanMs})`,
      `\${policy.firstBanMs} * 2 ^ level`,
    ],
    "a ban's level is forgotten 1 ms late": [
      `now >= bannedUntil + \${policy.memoryMs}`,
      `now > bannedUntil + \${policy.memoryMs}`,
    ],
  },
  "ban-policy": {
    "strikes outlive their episode": ["retryAtMs: call.retryAtMs, strikes: 0 }", "retryAtMs: call.retryAtMs }"],
    "an episode ends 1 ms late": ["episodeEndMs <= call.nowMs", "episodeEndMs < call.nowMs"],
    "an episode has no longest time": [
      "Math.min(before.retryAtMs, before.episodeStartMs + policy.longestEpisodeMs)",
      "before.retryAtMs",
    ],
    "an episode lasts until its first refusal may come back": [
      "Math.min(before.retryAtMs, call.retryAtMs)",
      "before.retryAtMs",
    ],
    "the grace ends 1 ms early": ["<= policy.graceMs", "< policy.graceMs"],
    "early callers are forgiven 1 ms too late": ["<= policy.earlyMs", "< policy.earlyMs"],
    "a ban needs one strike more": ["strikes >= strikesThatBan", "strikes > strikesThatBan"],
    "the fewest strikes ban under any limit": [", policy.strikesPerUnit * call.minuteLimit)", ")"],
    "a low limit bans with fewer than the fewest strikes": ["Math.max(policy.minimumStrikes, ", "Math.max("],
    "a ban keeps the strikes that led to it": [
      "return { ...untouched, bannedUntilMs: nowMs",
      "return { ...before, bannedUntilMs: nowMs",
    ],
    "the second ban is no longer than the first": ["banLevel: banLevel + 1", "banLevel"],
    "bans double without end": [
      "Math.min(policy.firstBanMs * 2 ** banLevel, policy.longestBanMs)",
      "policy.firstBanMs * 2 ** banLevel",
    ],
    "a ban's level is forgotten 1 ms late": [
      "nowMs < before.bannedUntilMs + policy.memoryMs",
      "nowMs <= before.bannedUntilMs + policy.memoryMs",
    ],
  },
  "engines/local-quota": {
    "requests lengthen a ban": [
      "return bannedDecision(mode, windows, penalty.bannedUntilMs, cost);",
      `{ ledger.penalties.set(key, { ...penalty, bannedUntilMs: penalty.bannedUntilMs + 1_000 });
        return bannedDecision(mode, windows, penalty.bannedUntilMs, cost); }`,
    ],
    "a ban ends 1 ms late": [
      "penalty !== undefined && penalty.bannedUntilMs > nowMs",
      "penalty !== undefined && penalty.bannedUntilMs >= nowMs",
    ],
    "all keys of an account are banned together": [
      "const penalty = key === undefined ? undefined : ledger.penalties.get(key);",
      `const penalty = [...ledger.penalties.values()].find((other) => other.bannedUntilMs > nowMs) ??
        (key === undefined ? undefined : ledger.penalties.get(key));`,
    ],
  },
  "engines/redis-quota": {
    "all keys of an account are banned together": [
      `return \`\${accountKeyOf(account)}:\${apiKey}\`;`,
      `return \`\${accountKeyOf(account)}:\`;`,
    ],
  },
};
