import { type Fault, inModule, inScript } from "./plant.js";

/** Mistakes in who is banned, and for how long. */
export const banFaults: readonly Fault[] = [
  {
    fault: "strikes outlive their episode",
    redis: inScript("episodeEnd, further, strikes = now, retryAt, 0, 0", "episodeEnd, further = now, retryAt, 0"),
    local: inModule(
      "ban-policy",
      "episodeEndMs: call.retryAtMs, furtherRefusals: 0, strikes: 0 }",
      "episodeEndMs: call.retryAtMs, furtherRefusals: 0 }",
    ),
  },
  {
    fault: "an episode ends 1 ms late",
    redis: inScript("if episodeEnd <= now then", "if episodeEnd < now then"),
    local: inModule("ban-policy", "before.episodeEndMs <= call.nowMs", "before.episodeEndMs < call.nowMs"),
  },
  {
    fault: "each refusal prolongs the episode",
    redis: inScript("episodeEnd = math.min(episodeEnd, retryAt)", "episodeEnd = math.max(episodeEnd, retryAt)"),
    local: inModule(
      "ban-policy",
      "Math.min(before.episodeEndMs, call.retryAtMs)",
      "Math.max(before.episodeEndMs, call.retryAtMs)",
    ),
  },
  {
    fault: "an episode lasts until its first refusal may come back",
    redis: inScript("episodeEnd = math.min(episodeEnd, retryAt)", ""),
    local: inModule("ban-policy", "Math.min(before.episodeEndMs, call.retryAtMs)", "before.episodeEndMs"),
  },
  {
    fault: "the grace ends 1 ms early",
    redis: inScript("now - episodeStart <= ", "now - episodeStart < "),
    local: inModule("ban-policy", "<= policy.graceMs", "< policy.graceMs"),
  },
  {
    fault: "the grace forgives one refusal too many",
    redis: inScript("further <= minuteLimit", "further <= minuteLimit + 1"),
    local: inModule("ban-policy", "furtherRefusals <= call.minuteLimit", "furtherRefusals <= call.minuteLimit + 1"),
  },
  {
    fault: "early callers are forgiven 1 ms too late",
    redis: inScript("episodeEnd - now <= ", "episodeEnd - now < "),
    local: inModule("ban-policy", "<= policy.earlyMs", "< policy.earlyMs"),
  },
  {
    fault: "a ban needs one strike more",
    redis: inScript("strikes >= math.max(", "strikes > math.max("),
    local: inModule("ban-policy", "strikes < Math.max(", "strikes <= Math.max("),
  },
  {
    fault: "a quarter of the minute's limit is rounded down",
    redis: inScript("math.ceil(minuteLimit / 4)", "math.floor(minuteLimit / 4)"),
    local: inModule("ban-policy", "Math.ceil(call.minuteLimit / 4)", "Math.floor(call.minuteLimit / 4)"),
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
      "local-quota",
      "return banned(windows, penalty.bannedUntilMs, cost);",
      `{ ledger.penalties.set(key, { ...penalty, bannedUntilMs: penalty.bannedUntilMs + 1_000 });
        return banned(windows, penalty.bannedUntilMs, cost); }`,
    ),
  },
  {
    fault: "a ban ends 1 ms late",
    redis: inScript("if bannedUntil > now then\n", "if bannedUntil >= now then\n"),
    local: inModule(
      "local-quota",
      "penalty !== undefined && penalty.bannedUntilMs > nowMs",
      "penalty !== undefined && penalty.bannedUntilMs >= nowMs",
    ),
  },
  {
    fault: "a ban keeps the strikes that led to it",
    redis: inScript("episodeStart, episodeEnd, further, strikes, level = 0, 0, 0, 0, level + 1", "level = level + 1"),
    local: inModule(
      "ban-policy",
      "return { ...untouched, bannedUntilMs: nowMs",
      "return { ...before, bannedUntilMs: nowMs",
    ),
  },
  {
    fault: "the second ban is no longer than the first",
    redis: inScript("strikes, level = 0, 0, 0, 0, level + 1", "strikes, level = 0, 0, 0, 0, level"),
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
      "redis-quota",
      `return \`\${accountKeyOf(account)}:\${key}\`;`,
      `return \`\${accountKeyOf(account)}:\`;`,
    ),
    local: inModule(
      "local-quota",
      "const penalty = key === undefined ? undefined : ledger.penalties.get(key);",
      `const penalty = [...ledger.penalties.values()].find((other) => other.bannedUntilMs > nowMs) ??
        (key === undefined ? undefined : ledger.penalties.get(key));`,
    ),
  },
];
