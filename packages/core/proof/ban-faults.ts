import { type Fault, inModule, inScript } from "./plant.js";

/** Mistakes in bans and their length. */
export const banFaults: readonly Fault[] = [
  {
    fault: "strikes outlive their episode",
    redis: inScript("episodeRetryAt, strikes = now, retryAt, 0", "episodeRetryAt = now, retryAt"),
    local: inModule("ban-policy", "retryAtMs: call.retryAtMs, strikes: 0 }", "retryAtMs: call.retryAtMs }"),
  },
  {
    fault: "an episode ends 1 ms late",
    redis: inScript(
      `episodeStart + \${policy.longestEpisodeMs}) <= now`,
      `episodeStart + \${policy.longestEpisodeMs}) < now`,
    ),
    local: inModule("ban-policy", "episodeEndMs <= call.nowMs", "episodeEndMs < call.nowMs"),
  },
  {
    fault: "an episode has no longest time",
    redis: inScript(`math.min(episodeRetryAt, episodeStart + \${policy.longestEpisodeMs})`, "episodeRetryAt"),
    local: inModule(
      "ban-policy",
      "Math.min(before.retryAtMs, before.episodeStartMs + policy.longestEpisodeMs)",
      "before.retryAtMs",
    ),
  },
  {
    fault: "an episode always lasts its longest time",
    redis: inScript(
      `math.min(episodeRetryAt, episodeStart + \${policy.longestEpisodeMs})`,
      `episodeStart + \${policy.longestEpisodeMs}`,
    ),
    local: inModule(
      "ban-policy",
      "Math.min(before.retryAtMs, before.episodeStartMs + policy.longestEpisodeMs)",
      "before.episodeStartMs + policy.longestEpisodeMs",
    ),
  },
  {
    fault: "a later retry time prolongs the episode",
    redis: inScript("math.min(episodeRetryAt, retryAt)", "math.max(episodeRetryAt, retryAt)"),
    local: inModule(
      "ban-policy",
      "Math.min(before.retryAtMs, call.retryAtMs)",
      "Math.max(before.retryAtMs, call.retryAtMs)",
    ),
  },
  {
    fault: "an episode lasts until its first refusal may come back",
    redis: inScript("episodeRetryAt = math.min(episodeRetryAt, retryAt)", ""),
    local: inModule("ban-policy", "Math.min(before.retryAtMs, call.retryAtMs)", "before.retryAtMs"),
  },
  {
    fault: "the grace ends 1 ms early",
    redis: inScript("now - episodeStart <= ", "now - episodeStart < "),
    local: inModule("ban-policy", "<= policy.graceMs", "< policy.graceMs"),
  },
  {
    fault: "early callers are forgiven 1 ms too late",
    redis: inScript("episodeRetryAt - now <= ", "episodeRetryAt - now < "),
    local: inModule("ban-policy", "<= policy.earlyMs", "< policy.earlyMs"),
  },
  {
    fault: "callers early for the end of a longest episode are forgiven",
    redis: inScript(
      "episodeRetryAt - now <= ",
      `math.min(episodeRetryAt, episodeStart + \${policy.longestEpisodeMs}) - now <= `,
    ),
    local: inModule("ban-policy", "retryAtMs - call.nowMs <=", "Math.min(retryAtMs, episodeEndMs) - call.nowMs <="),
  },
  {
    fault: "a ban needs one strike more",
    redis: inScript("strikes >= strikesThatBan", "strikes > strikesThatBan"),
    local: inModule("ban-policy", "strikes >= strikesThatBan(", "strikes > strikesThatBan("),
  },
  {
    fault: "the fewest strikes ban under any limit",
    redis: inScript(`, \${policy.strikesPerUnit} * minuteLimit)`, ")"),
    local: inModule("ban-policy", ", policy.strikesPerUnit * minuteLimit)", ")"),
  },
  {
    fault: "a low limit bans with fewer than the fewest strikes",
    redis: inScript(`math.max(\${policy.minimumStrikes}, `, "math.max("),
    local: inModule("ban-policy", "Math.max(policy.minimumStrikes, ", "Math.max("),
  },
  {
    fault: "a request strikes as often as it costs",
    redis: inScript("strikes = strikes + 1", "strikes = strikes + cost"),
  },
  {
    fault: "requests lengthen a ban",
    redis: inScript(
      `if bannedUntil > now then
    outcome`,
      `if bannedUntil > now then
    if cost > 0 then
      bannedUntil, hasRefused = bannedUntil + 1000, true
    end
    outcome`,
    ),
    local: inModule(
      "engines/local-quota",
      "return bannedDecision(mode, windows, penalty.bannedUntilMs, cost);",
      `{ ledger.penalties.set(key, { ...penalty, bannedUntilMs: penalty.bannedUntilMs + 1_000 });
        return bannedDecision(mode, windows, penalty.bannedUntilMs, cost); }`,
    ),
  },
  {
    fault: "a ban ends 1 ms late",
    redis: inScript("if bannedUntil > now then\n", "if bannedUntil >= now then\n"),
    local: inModule(
      "engines/local-quota",
      "penalty !== undefined && penalty.bannedUntilMs > nowMs",
      "penalty !== undefined && penalty.bannedUntilMs >= nowMs",
    ),
  },
  {
    fault: "a ban keeps the strikes that led to it",
    redis: inScript("episodeStart, episodeRetryAt, strikes, level = 0, 0, 0, level + 1", "level = level + 1"),
    local: inModule(
      "ban-policy",
      "return { ...untouched, bannedUntilMs: nowMs",
      "return { ...before, bannedUntilMs: nowMs",
    ),
  },
  {
    fault: "the second ban is no longer than the first",
    redis: inScript("strikes, level = 0, 0, 0, level + 1", "strikes, level = 0, 0, 0, level"),
    local: inModule("ban-policy", "banLevel: banLevel + 1", "banLevel"),
  },
  {
    fault: "bans double without end",
    redis: inScript(
      `math.min(\${policy.firstBanMs} * 2 ^ level, \${policy.longestBanMs})`,
      `\${policy.firstBanMs} * 2 ^ level`,
    ),
    local: inModule(
      "ban-policy",
      "Math.min(policy.firstBanMs * 2 ** banLevel, policy.longestBanMs)",
      "policy.firstBanMs * 2 ** banLevel",
    ),
  },
  {
    fault: "a ban's level is never forgotten",
    redis: inScript(`if bannedUntil == 0 or now >= bannedUntil + \${policy.memoryMs} then level = 0 end`, ""),
    local: inModule("ban-policy", "remembered ? before.banLevel : 0", "before.banLevel"),
  },
  {
    fault: "a ban's level is forgotten 1 ms late",
    redis: inScript(`now >= bannedUntil + \${policy.memoryMs}`, `now > bannedUntil + \${policy.memoryMs}`),
    local: inModule(
      "ban-policy",
      "nowMs < before.bannedUntilMs + policy.memoryMs",
      "nowMs <= before.bannedUntilMs + policy.memoryMs",
    ),
  },
  {
    fault: "all keys of an account are banned together",
    redis: inModule(
      "engines/redis-quota",
      `return \`\${accountKeyOf(account)}:\${apiKey}\`;`,
      `return \`\${accountKeyOf(account)}:\`;`,
    ),
    local: inModule(
      "engines/local-quota",
      "const penalty = key === undefined ? undefined : ledger.penalties.get(key);",
      `const penalty = [...ledger.penalties.values()].find((other) => other.bannedUntilMs > nowMs) ??
        (key === undefined ? undefined : ledger.penalties.get(key));`,
    ),
  },
];
