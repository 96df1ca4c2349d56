import type { Replacement } from "./plant.js";

/** A mistake somebody could make, as it would look in each engine that could have it. */
export interface Fault {
  readonly fault: string;
  readonly redis?: Replacement;
  readonly local?: Replacement;
}

export const faults: readonly Fault[] = [
  {
    fault: ">= for > at the minute's limit",
    redis: script("minuteUsed + cost <= minuteLimit then", "minuteUsed + cost < minuteLimit then"),
    local: inModule("decision", "minute.used + cost > minute.limit", "minute.used + cost >= minute.limit"),
  },
  {
    fault: ">= for > at the day's limit",
    redis: script("dayUsed + cost > dayLimit", "dayUsed + cost >= dayLimit"),
    local: inModule("decision", "day.used + cost > day.limit", "day.used + cost >= day.limit"),
  },
  {
    fault: "the minute grants a unit too many",
    redis: script("minuteUsed + cost <= minuteLimit then", "minuteUsed + cost <= minuteLimit + 1 then"),
    local: inModule("decision", "minute.used + cost > minute.limit", "minute.used + cost > minute.limit + 1"),
  },
  {
    fault: "a cost of the whole limit is impossible",
    redis: script("if cost > minuteLimit or", "if cost >= minuteLimit or"),
    local: inModule("local-quota", "if (cost > limits.perMinute ||", "if (cost >= limits.perMinute ||"),
  },
  {
    fault: "a minute's refusal eats the day",
    redis: script("local retryAt =", "if not dayRefuses then dayUsed = dayUsed + cost save() end\nlocal retryAt ="),
    local: inModule(
      "local-quota",
      "const retryAtMs = windows[by].resetAtMs;",
      `if (by === "minute") { ledger.dayStartMs = windows.day.resetAtMs - dayMs; ledger.dayUsed = windows.day.used + cost; }
       const retryAtMs = windows[by].resetAtMs;`,
    ),
  },
  {
    fault: "an admission spends nothing of the day",
    redis: script("minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost", "minuteUsed = minuteUsed + cost"),
    local: inModule("local-quota", "ledger.dayUsed = windows.day.used + cost", "ledger.dayUsed = windows.day.used"),
  },
  {
    fault: "a new window begins with the old one's units",
    redis: script("return start, 0", "return start, storedUsed"),
    local: inModule("window", "return { limit, used: 0,", "return { limit, used: storedUsed,"),
  },
  {
    fault: "a clock that steps back hands units out twice",
    redis: script("storedStart >= start and storedStart - start <= length", "storedStart == start"),
    local: inModule(
      "window",
      "storedStartMs >= startMs && storedStartMs - startMs <= lengthMs",
      "storedStartMs === startMs",
    ),
  },
  {
    fault: "a clock that steps back by hours blocks them",
    redis: script("storedStart >= start and storedStart - start <= length", "storedStart >= start"),
    local: inModule(
      "window",
      "storedStartMs >= startMs && storedStartMs - startMs <= lengthMs",
      "storedStartMs >= startMs",
    ),
  },
  {
    fault: "a refund goes below zero",
    redis: script("math.max(0, mu - units)", "mu - units"),
    local: inModule("local-quota", "Math.max(0, ledger.minuteUsed - cost)", "ledger.minuteUsed - cost"),
  },
  {
    fault: "a refund goes to a later minute",
    redis: script("if tonumber(ARGV[3]) == ms then", "if tonumber(ARGV[3]) <= ms then"),
    local: inModule(
      "local-quota",
      "ledger.minuteStartMs + minuteMs === spentIn.minute.resetAtMs",
      "ledger.minuteStartMs + minuteMs >= spentIn.minute.resetAtMs",
    ),
  },
  {
    fault: "a refund goes to a later day",
    redis: script("if tonumber(ARGV[4]) == ds then", "if tonumber(ARGV[4]) <= ds then"),
    local: inModule(
      "local-quota",
      "ledger.dayStartMs + dayMs === spentIn.day.resetAtMs",
      "ledger.dayStartMs + dayMs >= spentIn.day.resetAtMs",
    ),
  },
  {
    fault: "the minute's reset is named where both windows refuse",
    redis: script(
      "local retryAt = dayRefuses and",
      "local retryAt = dayRefuses and minuteUsed + cost <= minuteLimit and",
    ),
    local: inModule(
      "decision",
      "if (day.used + cost > day.limit)",
      "if (day.used + cost > day.limit && minute.used + cost <= minute.limit)",
    ),
  },
  {
    fault: "strikes outlive their episode",
    redis: script("episodeEnd, further, strikes = now, retryAt, 0, 0", "episodeEnd, further = now, retryAt, 0"),
    local: inModule(
      "ban-policy",
      "episodeEndMs: call.retryAtMs, furtherRefusals: 0, strikes: 0 }",
      "episodeEndMs: call.retryAtMs, furtherRefusals: 0 }",
    ),
  },
  {
    fault: "an episode ends 1 ms late",
    redis: script("if episodeEnd <= now then", "if episodeEnd < now then"),
    local: inModule("ban-policy", "before.episodeEndMs <= call.nowMs", "before.episodeEndMs < call.nowMs"),
  },
  {
    fault: "each refusal prolongs the episode",
    redis: script("further = further + 1", "further = further + 1 episodeEnd = math.max(episodeEnd, retryAt)"),
    local: inModule(
      "ban-policy",
      "return { ...before, furtherRefusals, strikes };",
      "return { ...before, furtherRefusals, strikes, episodeEndMs: Math.max(before.episodeEndMs, call.retryAtMs) };",
    ),
  },
  {
    fault: "the grace ends 1 ms early",
    redis: script("now - episodeStart <= ", "now - episodeStart < "),
    local: inModule("ban-policy", "<= policy.graceMs", "< policy.graceMs"),
  },
  {
    fault: "the grace forgives one refusal too many",
    redis: script("further <= minuteLimit", "further <= minuteLimit + 1"),
    local: inModule("ban-policy", "furtherRefusals <= call.minuteLimit", "furtherRefusals <= call.minuteLimit + 1"),
  },
  {
    fault: "early callers are forgiven 1 ms too late",
    redis: script("retryAt - now <= ", "retryAt - now < "),
    local: inModule("ban-policy", "<= policy.earlyMs", "< policy.earlyMs"),
  },
  {
    fault: "a ban needs one strike more",
    redis: script("strikes >= math.max(", "strikes > math.max("),
    local: inModule("ban-policy", "strikes < Math.max(", "strikes <= Math.max("),
  },
  {
    fault: "a quarter of the minute's limit is rounded down",
    redis: script("math.ceil(minuteLimit / 4)", "math.floor(minuteLimit / 4)"),
    local: inModule("ban-policy", "Math.ceil(call.minuteLimit / 4)", "Math.floor(call.minuteLimit / 4)"),
  },
  {
    fault: "a request strikes as often as it costs",
    redis: script("strikes = strikes + 1", "strikes = strikes + cost"),
  },
  {
    fault: "requests lengthen a ban",
    redis: script(
      `if bannedUntil > now then return reply(\${outcomes.banned}, bannedUntil) end
if cost == 0`,
      `if bannedUntil > now then
  if cost > 0 then redis.call('HSET', KEYS[2], 'b', int(bannedUntil + 1000)) end
  return reply(\${outcomes.banned}, bannedUntil)
end
if cost == 0`,
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
    redis: script(
      `if bannedUntil > now then return reply(\${outcomes.banned}, bannedUntil) end
if cost == 0`,
      `if bannedUntil >= now then return reply(\${outcomes.banned}, bannedUntil) end
if cost == 0`,
    ),
    local: inModule(
      "local-quota",
      "penalty !== undefined && penalty.bannedUntilMs > nowMs",
      "penalty !== undefined && penalty.bannedUntilMs >= nowMs",
    ),
  },
  {
    fault: "a ban keeps the strikes that led to it",
    redis: script("episodeStart, episodeEnd, further, strikes, level = 0, 0, 0, 0, level + 1", "level = level + 1"),
    local: inModule(
      "ban-policy",
      "return { ...untouched, bannedUntilMs: nowMs",
      "return { ...before, bannedUntilMs: nowMs",
    ),
  },
  {
    fault: "the second ban is no longer than the first",
    redis: script("strikes, level = 0, 0, 0, 0, level + 1", "strikes, level = 0, 0, 0, 0, level"),
    local: inModule("ban-policy", "banLevel: banLevel + 1", "banLevel"),
  },
  {
    fault: "bans double without end",
    redis: script(
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
    redis: script(`if bannedUntil == 0 or now >= bannedUntil + \${policy.memoryMs} then level = 0 end`, ""),
    local: inModule("ban-policy", "remembered ? before.banLevel : 0", "before.banLevel"),
  },
  {
    fault: "a ban's level is forgotten 1 ms late",
    redis: script(`now >= bannedUntil + \${policy.memoryMs}`, `now > bannedUntil + \${policy.memoryMs}`),
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
  {
    fault: "an account has no TTL",
    redis: script(`, value, 'PX', int(dayStart + \${2 * dayMs} - now))`, ", value)"),
  },
  {
    fault: "a penalty has no TTL",
    redis: script(`redis.call('PEXPIRE', KEYS[2], int(math.max(episodeEnd, rememberedUntil) + \${2 * dayMs} - now))`, ""),
  },
  {
    fault: "a refund takes the TTL away",
    redis: script(", 'KEEPTTL')", ")"),
  },
  {
    fault: "a refund creates an account",
    redis: script("if stored then\n  if tonumber(ARGV[3])", "if true then\n  if tonumber(ARGV[3])"),
  },
];

function script(right: string, wrong: string): Replacement {
  return inModule("reserve-script", right, wrong);
}

function inModule(module: string, right: string, wrong: string): Replacement {
  return { module, right, wrong };
}
