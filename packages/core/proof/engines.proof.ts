// The same random calls at the same virtual times to both engines must get equal replies, and unequal ones if a fault is
// planted in the scripts of the Redis engine.
import { AssertionError } from "node:assert";
import { shared } from "@petstore/harness";
import { openRedisServer } from "@petstore/harness/redis";
import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { compareEngines } from "../test/quota/random/compare-engines.js";
import { generators, scriptPolicy } from "../test/quota/random/scripts.js";

/**
 * Mistakes in how the scripts of the Redis engine grant, give back and keep units, and in bans and their length: a text of a
 * script, and the wrong text.
 */
const faults: Readonly<Record<string, readonly [right: string, wrong: string]>> = {
  ">= for > at the minute's limit": ["minuteUsedIfAdmitted <= minuteLimit", "minuteUsedIfAdmitted < minuteLimit"],
  ">= for > at the day's limit": ["dayUsedIfAdmitted <= dayLimit", "dayUsedIfAdmitted < dayLimit"],
  "the day is named although the cost fits in it exactly": ["dayUsed + cost > dayLimit", "dayUsed + cost >= dayLimit"],
  "a cost of the whole limit is impossible": ["if cost > minuteLimit or", "if cost >= minuteLimit or"],
  "a minute's refusal eats the day": [
    "local retryAt =",
    "if not dayRefuses then dayUsed, accountChanged = dayUsedIfAdmitted, true end local retryAt =",
  ],
  "a new window begins with the old one's units": ["return start, 0", "return start, storedUsed"],
  "a clock that steps back grants units twice": ["storedStart - start <= length", "storedStart - start <= 0"],
  "a clock that steps back by hours blocks them": [" and storedStart - start <= length", ""],
  "a refund is not cut off at zero": ["math.max(0, storedMinuteUsed - ", "math.abs(storedMinuteUsed - "],
  "a refund goes to a later minute": ["heldMinuteStart == storedMinuteStart", "heldMinuteStart <= storedMinuteStart"],
  "the minute's reset is named where both windows refuse": [
    "local retryAt = dayRefuses and",
    "local retryAt = dayRefuses and minuteUsed + cost <= minuteLimit and",
  ],
  "a penalty has no TTL": [
    "return replies",
    "if penaltyChanged then redis.call('PERSIST', KEYS[2]) end return replies",
  ],
  "a refund takes the TTL away": [", 'KEEPTTL')", ")"],
  "a refund creates an account": ["if storedAccount then", "if true then"],
  "an extension does not count the held unit of the minute": ["minuteUsed - heldOfMinute + cost", "minuteUsed + cost"],
  "an extension does not count the held unit of the day": ["dayUsed - heldOfDay + cost", "dayUsed + cost"],
  "an extension counts a unit of an earlier minute": [
    "if heldMinuteStart == minuteStart",
    "if heldMinuteStart <= minuteStart",
  ],
  "an extension counts a unit of an earlier day": ["if heldDayStart == dayStart", "if heldDayStart <= dayStart"],
  "an extension counts a unit that nobody holds any more": ["math.min(heldUnits, minuteUsed)", "heldUnits"],
  "a refused extension gives the held unit back": ["if heldUnits > 0 and cost == 0 then", "if heldUnits > 0 then"],
  "strikes outlive their episode": ["episodeRetryAt = retryAt\n      strikes = 0", "episodeRetryAt = retryAt"],
  "an episode ends 1 ms late": ["if episodeEnd <= now", "if episodeEnd < now"],
  "an episode has no longest time": [", episodeStart + ", ", episodeRetryAt + "],
  "an episode lasts until its first refusal may come back": ["math.min(episodeRetryAt, retryAt)", "episodeRetryAt"],
  "the grace ends 1 ms early": ["now - episodeStart <= ", "now - episodeStart < "],
  "early callers are forgiven 1 ms too late": ["episodeRetryAt - now <= ", "episodeRetryAt - now < "],
  "a ban needs one strike more": ["strikes >= strikesThatBan", "strikes > strikesThatBan"],
  "the fewest strikes ban under any limit": [`, ${scriptPolicy.strikesPerUnit} * minuteLimit)`, ")"],
  "a low limit bans with fewer than the fewest strikes": [`math.max(${scriptPolicy.minimumStrikes}, `, "math.max("],
  "a request strikes as often as it costs": ["strikes = strikes + 1", "strikes = strikes + cost"],
  "requests lengthen a ban": [
    "elseif cost == 0",
    "if cost > 0 then bannedUntil, penaltyChanged = bannedUntil + 1000, true end elseif cost == 0",
  ],
  "every refused request begins the ban": ["local beginsBan = 0", "local beginsBan = bannedUntil > now and 1 or 0"],
  "a ban ends 1 ms late": ["\n  if bannedUntil > now", "\n  if bannedUntil >= now"],
  "a ban keeps the strikes that led to it": ["episodeStart = now\n        episodeRetryAt = 0\n        strikes = 0", ""],
  "the second ban is no longer than the first": ["banLevel = banLevel + 1", ""],
  "bans double without end": ["2 ^ banLevel, ", "2 ^ banLevel, 2 ^ banLevel * "],
  "a ban has no beginning": [
    "episodeStart = now\n        episodeRetryAt = 0",
    "episodeStart = 0\n        episodeRetryAt = 0",
  ],
  "a lift ends a later ban": ["if episodeStart <= liftedAt", "if true"],
  "a lift does not end a ban that began with it": ["if episodeStart <= liftedAt", "if episodeStart < liftedAt"],
};

const server = await shared(openRedisServer());
const redis = new Redis(server.url);
afterAll(() => redis.disconnect());

const atLeastCalls = 250_000;
/** For a fault, which ends the comparison as soon as it shows. A rare one has not shown in 250,000 calls. */
const faultyCalls = 1_000_000;

it.for(generators)("decides 250,000 $generator calls like the local quota", async ({ scripts }) => {
  await compareEngines({ scripts, redis, atLeastCalls });
});

// The comparison does not know which engine is wrong, so the same faults in the local quota need no test of their own.
describe("a fault in the script, judged by the local quota", () => {
  const scripts = fc.oneof(...generators.map((generator) => generator.scripts));

  it.for(Object.entries(faults))("is caught: %s", async ([_fault, [right, wrong]]) => {
    const faulty = redis.duplicate();
    const define = faulty.defineCommand.bind(faulty);
    faulty.defineCommand = (name, { lua = "", ...definition }) =>
      define(name, { ...definition, lua: lua.replace(right, () => wrong) });
    const comparison = compareEngines({ scripts, redis: faulty, atLeastCalls: faultyCalls, shrinks: false });
    // A script that Redis cannot execute rejects with another cause.
    await expect(comparison).rejects.toMatchObject({ cause: expect.any(AssertionError) });
    faulty.disconnect();
  });
});
