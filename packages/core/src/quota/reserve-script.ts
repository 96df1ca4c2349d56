/**
 * The rules of `local-quota.ts` and `ban-policy.ts` in the language of Redis, so that one round trip decides both
 * windows for any number of processes. The scripts deal in whole milliseconds and units alone; what a caller reads is
 * computed from their replies in TypeScript, by the code that serves every engine.
 *
 * An account is one string, `minuteStart:minuteUsed:dayStart:dayUsed`; a key has a hash of penalties from its first
 * refusal on. Every key has a TTL, which only collects garbage: no answer depends on it.
 */
import type { BanPolicy } from "./ban-policy.js";
import { dayMs, minuteMs } from "./window.js";

/** What the first number of a reply means. */
export const outcomes = { looked: 0, admitted: 1, refused: 2, banned: 3, impossible: 4 } as const;

/** Lua writes large numbers as 1.7e+12 unless told otherwise. */
const readAccount = `
local function int(number) return string.format('%d', number) end
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local function windowAt(length, storedStart, storedUsed)
  local start = now - now % length
  if storedStart >= start and storedStart - start <= length then return storedStart, storedUsed end
  return start, 0
end
local stored = redis.call('GET', KEYS[1])
local ms, mu, ds, du = 0, 0, 0, 0
if stored then
  ms, mu, ds, du = string.match(stored, '(%d+):(%d+):(%d+):(%d+)')
  ms, mu, ds, du = tonumber(ms), tonumber(mu), tonumber(ds), tonumber(du)
end
local minuteStart, minuteUsed = windowAt(${minuteMs}, ms, mu)
local dayStart, dayUsed = windowAt(${dayMs}, ds, du)
local function save()
  local value = int(minuteStart) .. ':' .. int(minuteUsed) .. ':' .. int(dayStart) .. ':' .. int(dayUsed)
  redis.call('SET', KEYS[1], value, 'PX', int(dayStart + ${2 * dayMs} - now))
end`;

/**
 * KEYS: the account and, unless nobody is banned for the request, the key's penalties. ARGV: the time, empty for the
 * server's own; both limits; the cost, 0 to look and spend nothing; and, after an outage, for a minute and for a day:
 * its start, what was used when it was last heard of, and the units spent since without it.
 */
export function reserveScript(policy: BanPolicy): string {
  return `${readAccount}
local minuteLimit, dayLimit, cost = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if ARGV[5] then
  if tonumber(ARGV[5]) == minuteStart then minuteUsed = math.max(minuteUsed, tonumber(ARGV[6])) + tonumber(ARGV[7]) end
  if tonumber(ARGV[8]) == dayStart then dayUsed = math.max(dayUsed, tonumber(ARGV[9])) + tonumber(ARGV[10]) end
  save()
end
local function reply(outcome, bannedUntil)
  return { outcome, now, minuteStart, minuteUsed, dayStart, dayUsed, bannedUntil }
end

local episodeStart, episodeEnd, further, strikes, bannedUntil, level = 0, 0, 0, 0, 0, 0
local penalty = KEYS[2] and redis.call('HMGET', KEYS[2], 's', 'e', 'f', 'k', 'b', 'l')
if penalty and penalty[1] then
  episodeStart, episodeEnd, further = tonumber(penalty[1]), tonumber(penalty[2]), tonumber(penalty[3])
  strikes, bannedUntil, level = tonumber(penalty[4]), tonumber(penalty[5]), tonumber(penalty[6])
end
if bannedUntil > now then return reply(${outcomes.banned}, bannedUntil) end
if cost == 0 then return reply(${outcomes.looked}, 0) end
if cost > minuteLimit or cost > dayLimit then return reply(${outcomes.impossible}, 0) end

local dayRefuses = dayUsed + cost > dayLimit
if not dayRefuses and minuteUsed + cost <= minuteLimit then
  minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost
  save()
  return reply(${outcomes.admitted}, 0)
end
if not KEYS[2] then return reply(${outcomes.refused}, 0) end

local retryAt = dayRefuses and dayStart + ${dayMs} or minuteStart + ${minuteMs}
if episodeEnd <= now then
  episodeStart, episodeEnd, further, strikes = now, retryAt, 0, 0
else
  further = further + 1
  episodeEnd = math.min(episodeEnd, retryAt)
  local inFlight = now - episodeStart <= ${policy.graceMs} and further <= minuteLimit
  local early = episodeEnd - now <= ${policy.earlyMs}
  if not (inFlight or early) then strikes = strikes + 1 end
  if ${policy.strikes} > 0 and strikes >= math.max(${policy.strikes}, math.ceil(minuteLimit / 4)) then
    if bannedUntil == 0 or now >= bannedUntil + ${policy.memoryMs} then level = 0 end
    bannedUntil = now + math.min(${policy.firstBanMs} * 2 ^ level, ${policy.longestBanMs})
    episodeStart, episodeEnd, further, strikes, level = 0, 0, 0, 0, level + 1
  end
end
redis.call('HSET', KEYS[2], 's', int(episodeStart), 'e', int(episodeEnd), 'f', int(further), 'k', int(strikes),
  'b', int(bannedUntil), 'l', int(level))
local rememberedUntil = bannedUntil == 0 and 0 or bannedUntil + ${policy.memoryMs}
redis.call('PEXPIRE', KEYS[2], int(math.max(episodeEnd, rememberedUntil) + ${2 * dayMs} - now))
if bannedUntil > now then return reply(${outcomes.banned}, bannedUntil) end
return reply(${outcomes.refused}, 0)`;
}

/** KEYS: the account. ARGV: the time; units; the starts of the minute and of the day they were spent in. */
export const refundScript: string = `${readAccount}
local units = tonumber(ARGV[2])
if stored then
  if tonumber(ARGV[3]) == ms then mu = math.max(0, mu - units) end
  if tonumber(ARGV[4]) == ds then du = math.max(0, du - units) end
  redis.call('SET', KEYS[1], int(ms) .. ':' .. int(mu) .. ':' .. int(ds) .. ':' .. int(du), 'KEEPTTL')
end
minuteStart, minuteUsed = windowAt(${minuteMs}, ms, mu)
dayStart, dayUsed = windowAt(${dayMs}, ds, du)
return { ${outcomes.looked}, now, minuteStart, minuteUsed, dayStart, dayUsed, 0 }`;
