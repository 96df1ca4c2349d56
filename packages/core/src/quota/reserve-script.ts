/**
 * The rules of `local-quota.ts` and `ban-policy.ts` in the language of Redis, so that one round trip decides both
 * windows for any number of processes. The scripts deal in whole milliseconds and units alone; what a caller reads is
 * computed from their replies in TypeScript, by the code that serves every engine.
 *
 * An account is one string, `minuteStart:minuteUsed:dayStart:dayUsed`, and from its first refusal on a key's penalties
 * are another, `episodeStart:episodeEnd:further:strikes:bannedUntil:level`: one MGET reads both, where a hash would take
 * a call of its own. Every key has a TTL, which only collects garbage: no answer depends on it.
 */
import type { BanPolicy } from "./ban-policy.js";
import { dayMs, minuteMs } from "./window.js";

/** What the first number of a reply means. */
export const outcomes = { looked: 0, admitted: 1, refused: 2, banned: 3, impossible: 4 } as const;

/** Numbers are written with `%d`: Lua by itself writes large ones as 1.7e+12. */
const readKeys = `
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
local stored, penalties = unpack(redis.call('MGET', unpack(KEYS)))
local ms, mu, ds, du = 0, 0, 0, 0
if stored then
  ms, mu, ds, du = string.match(stored, '(%d+):(%d+):(%d+):(%d+)')
  ms, mu, ds, du = tonumber(ms), tonumber(mu), tonumber(ds), tonumber(du)
end
local minuteStart, minuteUsed = windowAt(${minuteMs}, ms, mu)
local dayStart, dayUsed = windowAt(${dayMs}, ds, du)
local function save(key, neededUntil, format, ...)
  redis.call('SET', key, string.format(format, ...), 'PX', string.format('%d', neededUntil + ${2 * dayMs} - now))
end`;

/**
 * Decides a reservation so many times, one after the other. KEYS: the account and, unless nobody is banned for it,
 * the key's penalties. ARGV: the time, empty for the server's own; both limits; the cost, 0 to look and spend nothing;
 * how many times; and, after an outage, for a minute and for a day: its start, what was used when it was last heard of,
 * and the units spent since without it.
 */
export function reserveScript(policy: BanPolicy): string {
  return `${readKeys}
local minuteLimit, dayLimit, cost, times = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local hasSpent, hasRefused = false, false
if ARGV[6] then
  if tonumber(ARGV[6]) == minuteStart then minuteUsed = math.max(minuteUsed, tonumber(ARGV[7])) + tonumber(ARGV[8]) end
  if tonumber(ARGV[9]) == dayStart then dayUsed = math.max(dayUsed, tonumber(ARGV[10])) + tonumber(ARGV[11]) end
  hasSpent = true
end

local episodeStart, episodeEnd, further, strikes, bannedUntil, level = 0, 0, 0, 0, 0, 0
if penalties then
  local s, e, f, k, b, l = string.match(penalties, '(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)')
  episodeStart, episodeEnd, further = tonumber(s), tonumber(e), tonumber(f)
  strikes, bannedUntil, level = tonumber(k), tonumber(b), tonumber(l)
end

local replies = {}
for time = 1, times do
  local outcome
  local dayRefuses = dayUsed + cost > dayLimit
  if bannedUntil > now then
    outcome = ${outcomes.banned}
  elseif cost == 0 then
    outcome = ${outcomes.looked}
  elseif cost > minuteLimit or cost > dayLimit then
    outcome = ${outcomes.impossible}
  elseif not dayRefuses and minuteUsed + cost <= minuteLimit then
    outcome = ${outcomes.admitted}
    minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost
    hasSpent = true
  else
    outcome = ${outcomes.refused}
  end
  if outcome == ${outcomes.refused} and KEYS[2] then
    hasRefused = true
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
        if bannedUntil > now then outcome = ${outcomes.banned} end
      end
    end
  end
  local bannedUntilMs = outcome == ${outcomes.banned} and bannedUntil or 0
  replies[time] = { outcome, now, minuteStart, minuteUsed, dayStart, dayUsed, bannedUntilMs }
end
if hasRefused then
  local rememberedUntil = bannedUntil == 0 and 0 or bannedUntil + ${policy.memoryMs}
  save(KEYS[2], math.max(episodeEnd, rememberedUntil), '%d:%d:%d:%d:%d:%d',
    episodeStart, episodeEnd, further, strikes, bannedUntil, level)
end
if hasSpent then save(KEYS[1], dayStart, '%d:%d:%d:%d', minuteStart, minuteUsed, dayStart, dayUsed) end
return replies`;
}

/** Reads a key's penalties: epoch milliseconds, 0 when it was never banned. */
export function bannedUntilOf(penalties: string): number {
  return Number(penalties.split(":")[4] ?? 0);
}

/** KEYS: the account. ARGV: the time; units; the starts of the minute and of the day they were spent in. */
export const refundScript: string = `${readKeys}
local units = tonumber(ARGV[2])
if stored then
  if tonumber(ARGV[3]) == ms then mu = math.max(0, mu - units) end
  if tonumber(ARGV[4]) == ds then du = math.max(0, du - units) end
  redis.call('SET', KEYS[1], string.format('%d:%d:%d:%d', ms, mu, ds, du), 'KEEPTTL')
end
minuteStart, minuteUsed = windowAt(${minuteMs}, ms, mu)
dayStart, dayUsed = windowAt(${dayMs}, ds, du)
return { ${outcomes.looked}, now, minuteStart, minuteUsed, dayStart, dayUsed, 0 }`;
