import { type Fault, inModule, inScript } from "./plant.js";

/** Mistakes in how units are granted, given back and kept. */
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
    local: inModule("engines/local-quota", "if (cost > share.perMinute ||", "if (cost >= share.perMinute ||"),
  },
  {
    fault: "a minute's refusal eats the day",
    redis: inScript(
      "local retryAt =",
      "if not dayRefuses then dayUsed, hasReserved = dayUsed + cost, true end\nlocal retryAt =",
    ),
    local: inModule(
      "engines/local-quota",
      "const retryAtMs = windows[by].resetAtMs;",
      `if (by === "minute") { ledger.dayStartMs = windows.day.resetAtMs - dayMs; ledger.dayUsed = windows.day.used + cost; }
       const retryAtMs = windows[by].resetAtMs;`,
    ),
  },
  {
    fault: "an admission spends nothing of the day",
    redis: inScript("minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost", "minuteUsed = minuteUsed + cost"),
    local: inModule(
      "engines/local-quota",
      "ledger.dayUsed = windows.day.used + cost",
      "ledger.dayUsed = windows.day.used",
    ),
  },
  {
    fault: "a new window begins with the old one's units",
    redis: inScript("return start, 0", "return start, storedUsed"),
    local: inModule("window", "return { limit, used: 0,", "return { limit, used: storedUsed,"),
  },
  {
    fault: "a clock that steps back grants units twice",
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
    redis: inScript("math.max(0, storedMinuteUsed - units)", "storedMinuteUsed - units"),
    local: inModule("engines/local-quota", "Math.max(0, ledger.minuteUsed - units)", "ledger.minuteUsed - units"),
  },
  {
    fault: "a refund goes to a later minute",
    redis: inScript("if heldInMinute == ms then", "if heldInMinute <= ms then"),
    local: inModule(
      "engines/local-quota",
      "ledger.minuteStartMs + minuteMs === heldIn.minute.resetAtMs",
      "ledger.minuteStartMs + minuteMs >= heldIn.minute.resetAtMs",
    ),
  },
  {
    fault: "a refund goes to a later day",
    redis: inScript("if heldInDay == ds then", "if heldInDay <= ds then"),
    local: inModule(
      "engines/local-quota",
      "ledger.dayStartMs + dayMs === heldIn.day.resetAtMs",
      "ledger.dayStartMs + dayMs >= heldIn.day.resetAtMs",
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
    redis: inScript("\nreturn replies", "\nif hasReserved then redis.call('PERSIST', KEYS[1]) end\nreturn replies"),
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
    redis: inScript("if stored then redis.call('SET', KEYS[1]", "if true then redis.call('SET', KEYS[1]"),
  },
  {
    fault: "an extension does not count the held unit",
    redis: inScript("if ARGV[6] ~= '' then giveBack(1", "if ARGV[6] ~= '' then giveBack(0"),
    local: inModule("engines/local-quota", "giveBack(ledger, 1, heldIn);", ";"),
  },
  {
    fault: "an extension counts more than the held unit",
    redis: inScript("if ARGV[6] ~= '' then giveBack(1", "if ARGV[6] ~= '' then giveBack(cost"),
    local: inModule("engines/local-quota", "giveBack(ledger, 1, heldIn);", "giveBack(ledger, cost, heldIn);"),
  },
  {
    fault: "a refused extension keeps the held unit",
    redis: inScript(
      "if stored then redis.call('SET', KEYS[1]",
      "if stored and not ARGV[6] then redis.call('SET', KEYS[1]",
    ),
    local: inModule(
      "engines/local-quota",
      "decide(reservation, reservation.limits, heldIn)",
      `{
        const ledger = ledgers.get(reservation.account);
        const before = { ...ledger };
        const decision = decide(reservation, reservation.limits, heldIn);
        if (ledger && decision.outcome !== "admitted") {
          ledger.minuteUsed = before.minuteUsed;
          ledger.dayUsed = before.dayUsed;
        }
        return decision;
      }`,
    ),
  },
  {
    fault: "an extension of a banned key keeps the held unit",
    redis: inScript(
      "if ARGV[6] ~= '' then giveBack(",
      `if ARGV[6] ~= '' and not (penalty and tonumber(string.match(penalty, "^%d+:%d+:%d+:%d+:(%d+)")) > now) then giveBack(`,
    ),
  },
];
