import type { FaultsByModule } from "./plant.js";

/** Mistakes in how units are granted, given back and kept. */
export const windowFaults: FaultsByModule = {
  "engines/reserve-script": {
    ">= for > at the minute's limit": ["minuteUsed + cost <= minuteLimit then", "minuteUsed + cost < minuteLimit then"],
    ">= for > at the day's limit": ["dayUsed + cost > dayLimit", "dayUsed + cost >= dayLimit"],
    "a cost of the whole limit is impossible": ["if cost > minuteLimit or", "if cost >= minuteLimit or"],
    "a minute's refusal eats the day": [
      "local retryAt =",
      `if not dayRefuses then dayUsed, hasReserved = dayUsed + cost, true end
local retryAt =`,
    ],
    "an admission spends nothing of the day": [
      "minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost",
      "minuteUsed = minuteUsed + cost",
    ],
    "a new window begins with the old one's units": ["return start, 0", "return start, storedUsed"],
    "a clock that steps back grants units twice": [
      "storedStart >= start and storedStart - start <= length",
      "storedStart == start",
    ],
    "a clock that steps back by hours blocks them": [
      "storedStart >= start and storedStart - start <= length",
      "storedStart >= start",
    ],
    "a refund goes below zero": ["math.max(0, storedMinuteUsed - units)", "storedMinuteUsed - units"],
    "a refund goes to a later minute": [
      "if heldInMinute == storedMinuteStart then",
      "if heldInMinute <= storedMinuteStart then",
    ],
    "the minute's reset is named where both windows refuse": [
      "local retryAt = dayRefuses and",
      "local retryAt = dayRefuses and minuteUsed + cost <= minuteLimit and",
    ],
    "an account has no TTL": [
      `
return replies`,
      `
if hasReserved then redis.call('PERSIST', KEYS[1]) end
return replies`,
    ],
    "a penalty has no TTL": [
      `
return replies`,
      `
if hasRefused then redis.call('PERSIST', KEYS[2]) end
return replies`,
    ],
    "a refund takes the TTL away": [", 'KEEPTTL')", ")"],
    "a refund creates an account": [
      "if stored then redis.call('SET', KEYS[1]",
      "if true then redis.call('SET', KEYS[1]",
    ],
    "an extension does not count the held unit": [
      "if ARGV[6] ~= '' then giveBack(1",
      "if ARGV[6] ~= '' then giveBack(0",
    ],
    "a refused extension keeps the held unit": [
      "if stored then redis.call('SET', KEYS[1]",
      "if stored and not ARGV[6] then redis.call('SET', KEYS[1]",
    ],
    "an extension of a banned key keeps the held unit": [
      "if ARGV[6] ~= '' then giveBack(",
      `if ARGV[6] ~= '' and not (penalty and tonumber(string.match(penalty, "^%d+:%d+:%d+:%d+:(%d+)")) > now) then giveBack(`,
    ],
  },
  decision: {
    ">= for > at the minute's limit": ["minute.used + cost > minute.limit", "minute.used + cost >= minute.limit"],
    ">= for > at the day's limit": ["day.used + cost > day.limit", "day.used + cost >= day.limit"],
    "the minute's reset is named where both windows refuse": [
      "if (day.used + cost > day.limit)",
      "if (day.used + cost > day.limit && minute.used + cost <= minute.limit)",
    ],
  },
  "engines/local-quota": {
    "a cost of the whole limit is impossible": ["if (cost > share.perMinute ||", "if (cost >= share.perMinute ||"],
    "a minute's refusal eats the day": [
      "const retryAtMs = windows[by].resetAtMs;",
      `if (by === "minute") { ledger.dayStartMs = windows.day.resetAtMs - dayMs; ledger.dayUsed = windows.day.used + cost; }
       const retryAtMs = windows[by].resetAtMs;`,
    ],
    "an admission spends nothing of the day": [
      "ledger.dayUsed = windows.day.used + cost",
      "ledger.dayUsed = windows.day.used",
    ],
    "a refund goes below zero": ["Math.max(0, ledger.minuteUsed - units)", "ledger.minuteUsed - units"],
    "a refund goes to a later minute": [
      "ledger.minuteStartMs + minuteMs === heldIn.minute.resetAtMs",
      "ledger.minuteStartMs + minuteMs >= heldIn.minute.resetAtMs",
    ],
    "an extension does not count the held unit": ["giveBack(ledger, 1, heldIn);", ";"],
  },
  window: {
    "a new window begins with the old one's units": ["return { limit, used: 0,", "return { limit, used: storedUsed,"],
    "a clock that steps back grants units twice": [
      "storedStartMs >= startMs && storedStartMs - startMs <= lengthMs",
      "storedStartMs === startMs",
    ],
    "a clock that steps back by hours blocks them": [
      "storedStartMs >= startMs && storedStartMs - startMs <= lengthMs",
      "storedStartMs >= startMs",
    ],
  },
};
