import { type Fault, inModule, inScript } from "./plant.js";

/** Mistakes in what is granted, given back and kept. */
export const windowFaults: readonly Fault[] = [
  {
    fault: ">= for > at the minute's limit",
    redis: inScript("minuteUsed + cost <= minuteLimit then", "minuteUsed + cost < minuteLimit then"),
    local: inModule("decision", "minute.used + cost > minute.limit", "minute.used + cost >= minute.limit"),
  },
  {
    fault: ">= for > at the day's limit",
    redis: inScript("dayUsed + cost > dayLimit", "dayUsed + cost >= dayLimit"),
    local: inModule("decision", "day.used + cost > day.limit", "day.used + cost >= day.limit"),
  },
  {
    fault: "the minute grants a unit too many",
    redis: inScript("minuteUsed + cost <= minuteLimit then", "minuteUsed + cost <= minuteLimit + 1 then"),
    local: inModule("decision", "minute.used + cost > minute.limit", "minute.used + cost > minute.limit + 1"),
  },
  {
    fault: "a cost of the whole limit is impossible",
    redis: inScript("if cost > minuteLimit or", "if cost >= minuteLimit or"),
    local: inModule("local-quota", "if (cost > limits.perMinute ||", "if (cost >= limits.perMinute ||"),
  },
  {
    fault: "a minute's refusal eats the day",
    redis: inScript("local retryAt =", "if not dayRefuses then dayUsed = dayUsed + cost save() end\nlocal retryAt ="),
    local: inModule(
      "local-quota",
      "const retryAtMs = windows[by].resetAtMs;",
      `if (by === "minute") { ledger.dayStartMs = windows.day.resetAtMs - dayMs; ledger.dayUsed = windows.day.used + cost; }
       const retryAtMs = windows[by].resetAtMs;`,
    ),
  },
  {
    fault: "an admission spends nothing of the day",
    redis: inScript("minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost", "minuteUsed = minuteUsed + cost"),
    local: inModule("local-quota", "ledger.dayUsed = windows.day.used + cost", "ledger.dayUsed = windows.day.used"),
  },
  {
    fault: "a new window begins with the old one's units",
    redis: inScript("return start, 0", "return start, storedUsed"),
    local: inModule("window", "return { limit, used: 0,", "return { limit, used: storedUsed,"),
  },
  {
    fault: "a clock that steps back hands units out twice",
    redis: inScript("storedStart >= start and storedStart - start <= length", "storedStart == start"),
    local: inModule(
      "window",
      "storedStartMs >= startMs && storedStartMs - startMs <= lengthMs",
      "storedStartMs === startMs",
    ),
  },
  {
    fault: "a clock that steps back by hours blocks them",
    redis: inScript("storedStart >= start and storedStart - start <= length", "storedStart >= start"),
    local: inModule(
      "window",
      "storedStartMs >= startMs && storedStartMs - startMs <= lengthMs",
      "storedStartMs >= startMs",
    ),
  },
  {
    fault: "a refund goes below zero",
    redis: inScript("math.max(0, mu - units)", "mu - units"),
    local: inModule("local-quota", "Math.max(0, ledger.minuteUsed - cost)", "ledger.minuteUsed - cost"),
  },
  {
    fault: "a refund goes to a later minute",
    redis: inScript("if tonumber(ARGV[3]) == ms then", "if tonumber(ARGV[3]) <= ms then"),
    local: inModule(
      "local-quota",
      "ledger.minuteStartMs + minuteMs === spentIn.minute.resetAtMs",
      "ledger.minuteStartMs + minuteMs >= spentIn.minute.resetAtMs",
    ),
  },
  {
    fault: "a refund goes to a later day",
    redis: inScript("if tonumber(ARGV[4]) == ds then", "if tonumber(ARGV[4]) <= ds then"),
    local: inModule(
      "local-quota",
      "ledger.dayStartMs + dayMs === spentIn.day.resetAtMs",
      "ledger.dayStartMs + dayMs >= spentIn.day.resetAtMs",
    ),
  },
  {
    fault: "the minute's reset is named where both windows refuse",
    redis: inScript(
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
    fault: "an account has no TTL",
    redis: inScript("\nreturn replies", "\nif hasSpent then redis.call('PERSIST', KEYS[1]) end\nreturn replies"),
  },
  {
    fault: "a penalty has no TTL",
    redis: inScript("\nreturn replies", "\nif hasRefused then redis.call('PERSIST', KEYS[2]) end\nreturn replies"),
  },
  {
    fault: "a refund takes the TTL away",
    redis: inScript(", 'KEEPTTL')", ")"),
  },
  {
    fault: "a refund creates an account",
    redis: inScript("if stored then\n  if tonumber(ARGV[3])", "if true then\n  if tonumber(ARGV[3])"),
  },
];
