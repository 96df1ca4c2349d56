/**
 * The rules of `local-quota.ts` and `ban-policy.ts` as Redis scripts, so that one round trip decides both windows for any
 * number of processes. They use only whole milliseconds and units. TypeScript computes the rest of a decision from their
 * replies, with the code that serves every engine.
 *
 * Redis stores an account as one string, and so the penalty of an API key, which exists only after the first refusal of the
 * key. One MGET reads both strings; two hashes would need two calls.
 *
 * | stored | format | example |
 * |---|---|---|
 * | account | `minuteStart:minuteUsed:dayStart:dayUsed` | `1795880400000:12:1795824000000:340` |
 * | penalty | `0:0:0:0:bannedUntil:banLevel;3;episodeStart:retryAt:strikes` | `0:0:0:0:0:0;3;1795880412345:1795880460000:4` |
 * | penalty of release 1.0 | four numbers, then `bannedUntil:banLevel` | `1795880412345:1795880460000:0:4:0:0` |
 *
 * A penalty holds the last ban, and the strikes of the present episode; `ban-policy.ts` explains the terms. Release 1.0 reads
 * only the part before the first semicolon, where it finds the ban and an episode of zeros. The 3 is the number of the format of
 * the rest. If release 1.0 wrote the penalty, this release reads only the ban. The start of the ban is then 0, so every lift
 * ends it.
 *
 * Every Redis key has a TTL, which only collects garbage: no decision depends on it.
 */
import type { BanPolicy, Penalty } from "../ban-policy.js";
import type { Limits } from "../plan.js";
import { dayMs, minuteMs, type Windows } from "../window.js";
import type { AccountCounts } from "./account-counts.js";

/**
 * The beginning of both scripts: reads the clock and the two Redis keys. Numbers are formatted with `%d`: Lua would format large
 * ones as 1.7e+12.
 */
const readKeys = `
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A stored window that starts later than the present one is kept, because the clock has stepped back.
local function windowAt(length, storedStart, storedUsed)
  local start = now - now % length
  if storedStart >= start and storedStart - start <= length then
    return storedStart, storedUsed
  end
  return start, 0
end

local storedAccount, storedPenalty = unpack(redis.call('MGET', unpack(KEYS)))

local storedMinuteStart, storedMinuteUsed, storedDayStart, storedDayUsed =
  string.match(storedAccount or '0:0:0:0', '(%d+):(%d+):(%d+):(%d+)')
storedMinuteStart = tonumber(storedMinuteStart)
storedMinuteUsed = tonumber(storedMinuteUsed)
storedDayStart = tonumber(storedDayStart)
storedDayUsed = tonumber(storedDayUsed)

local minuteStart, minuteUsed = windowAt(${minuteMs}, storedMinuteStart, storedMinuteUsed)
local dayStart, dayUsed = windowAt(${dayMs}, storedDayStart, storedDayUsed)

local bannedUntil = 0
local banLevel = 0
local episodeStart = 0
local episodeRetryAt = 0
local strikes = 0
if storedPenalty then
  bannedUntil, banLevel = string.match(storedPenalty, '^%d+:%d+:%d+:%d+:(%d+):(%d+)')
  bannedUntil = tonumber(bannedUntil)
  banLevel = tonumber(banLevel)
  local start, retryAt, count = string.match(storedPenalty, ';3;(%d+):(%d+):(%d+)$')
  if start then
    episodeStart = tonumber(start)
    episodeRetryAt = tonumber(retryAt)
    strikes = tonumber(count)
  end
end

local function save(key, neededUntil, format, ...)
  local ttl = neededUntil + ${2 * dayMs} - now
  redis.call('SET', key, string.format(format, ...), 'PX', string.format('%d', ttl))
end
`;

/** One call of the reserve script. It decides equal reservations, one after the other. */
export interface ReserveCall {
  /** `undefined` for the clock of Redis. */
  readonly nowMs: number | undefined;
  readonly limits: Limits;
  /** The cost of each reservation. 0 reserves nothing. */
  readonly cost: number;
  /** The number of reservations. */
  readonly times: number;
  /**
   * Units that the request holds, and the windows that they were reserved in. With a cost of 0, the script gives them back.
   * With another cost, they count towards it: an admission of 5 with 1 held unit adds 4. If the reservation is not admitted,
   * they stay used (decision 0017).
   */
  readonly held: { readonly units: number; readonly windows: Windows } | undefined;
  /** The report of an instance after an outage. The script adds its units first, because the held units may be among them. */
  readonly report: AccountCounts | undefined;
}

/** The arguments of the reserve script, in the order in which it reads them. */
export function reserveArguments({ nowMs, limits, cost, times, held, report }: ReserveCall): (string | number)[] {
  const values = [nowMs ?? "", limits.perMinute, limits.perDay, cost, times];
  if (held === undefined) values.push(0, 0, 0);
  else values.push(held.units, held.windows.minute.resetAtMs - minuteMs, held.windows.day.resetAtMs - dayMs);
  if (report !== undefined) {
    const { minute, day } = report;
    values.push(minute.resetAtMs - minuteMs, minute.knownUsed, minute.owedUnits);
    values.push(day.resetAtMs - dayMs, day.knownUsed, day.owedUnits);
  }
  return values;
}

/** KEYS: the account and, if the API key can be banned, its penalty. ARGV: `reserveArguments`. */
export function reserveScript(policy: BanPolicy): string {
  return `${readKeys}
local minuteLimit = tonumber(ARGV[2])
local dayLimit = tonumber(ARGV[3])
local cost = tonumber(ARGV[4])
local times = tonumber(ARGV[5])
local heldUnits = tonumber(ARGV[6])
local heldMinuteStart = tonumber(ARGV[7])
local heldDayStart = tonumber(ARGV[8])
local hasReport = ARGV[9]

local accountChanged = false
local penaltyChanged = false

if hasReport then
  local reportedMinuteStart = tonumber(ARGV[9])
  local knownOfMinute = tonumber(ARGV[10])
  local owedOfMinute = tonumber(ARGV[11])
  local reportedDayStart = tonumber(ARGV[12])
  local knownOfDay = tonumber(ARGV[13])
  local owedOfDay = tonumber(ARGV[14])
  if reportedMinuteStart == minuteStart then
    minuteUsed = math.max(minuteUsed, knownOfMinute) + owedOfMinute
  end
  if reportedDayStart == dayStart then
    dayUsed = math.max(dayUsed, knownOfDay) + owedOfDay
  end
  storedMinuteStart = minuteStart
  storedMinuteUsed = minuteUsed
  storedDayStart = dayStart
  storedDayUsed = dayUsed
  accountChanged = true
end

-- A refund. It never creates an account, and never changes its TTL.
if heldUnits > 0 and cost == 0 then
  if heldMinuteStart == storedMinuteStart then
    storedMinuteUsed = math.max(0, storedMinuteUsed - heldUnits)
  end
  if heldDayStart == storedDayStart then
    storedDayUsed = math.max(0, storedDayUsed - heldUnits)
  end
  if storedAccount then
    local account = string.format('%d:%d:%d:%d', storedMinuteStart, storedMinuteUsed, storedDayStart, storedDayUsed)
    redis.call('SET', KEYS[1], account, 'KEEPTTL')
  end
  minuteStart, minuteUsed = windowAt(${minuteMs}, storedMinuteStart, storedMinuteUsed)
  dayStart, dayUsed = windowAt(${dayMs}, storedDayStart, storedDayUsed)
end

-- An extension: the held units count towards the cost in the windows that they were reserved in.
local heldOfMinute = 0
if heldMinuteStart == minuteStart then
  heldOfMinute = math.min(heldUnits, minuteUsed)
end
local heldOfDay = 0
if heldDayStart == dayStart then
  heldOfDay = math.min(heldUnits, dayUsed)
end

local strikesThatBan = math.max(${policy.minimumStrikes}, ${policy.strikesPerUnit} * minuteLimit)

local replies = {}
for place = 1, times do
  local outcome
  local beginsBan = 0
  local minuteUsedIfAdmitted = minuteUsed - heldOfMinute + cost
  local dayUsedIfAdmitted = dayUsed - heldOfDay + cost
  if bannedUntil > now then
    outcome = 'banned'
  elseif cost == 0 then
    outcome = 'read'
  elseif cost > minuteLimit or cost > dayLimit then
    outcome = 'impossible'
  elseif minuteUsedIfAdmitted <= minuteLimit and dayUsedIfAdmitted <= dayLimit then
    outcome = 'admitted'
    minuteUsed = minuteUsedIfAdmitted
    dayUsed = dayUsedIfAdmitted
    accountChanged = true
  else
    outcome = 'refused'
  end

  -- A refusal begins an episode, or may be a strike in the present one.
  if outcome == 'refused' and KEYS[2] then
    penaltyChanged = true
    local dayRefuses = dayUsed + cost > dayLimit
    local retryAt = dayRefuses and dayStart + ${dayMs} or minuteStart + ${minuteMs}
    local episodeEnd = math.min(episodeRetryAt, episodeStart + ${policy.longestEpisodeMs})
    if episodeEnd <= now then
      episodeStart = now
      episodeRetryAt = retryAt
      strikes = 0
    else
      episodeRetryAt = math.min(episodeRetryAt, retryAt)
      local wasInFlight = now - episodeStart <= ${policy.graceMs}
      local isEarly = episodeRetryAt - now <= ${policy.earlyMs}
      if not (wasInFlight or isEarly) then
        strikes = strikes + 1
      end
      if ${policy.minimumStrikes} > 0 and strikes >= strikesThatBan then
        if bannedUntil == 0 or now >= bannedUntil + ${policy.memoryMs} then
          banLevel = 0
        end
        bannedUntil = now + math.min(${policy.firstBanMs} * 2 ^ banLevel, ${policy.longestBanMs})
        banLevel = banLevel + 1
        episodeStart = now
        episodeRetryAt = 0
        strikes = 0
        if bannedUntil > now then
          outcome = 'banned'
          beginsBan = 1
        end
      end
    end
  end
  replies[place] = { outcome, now, minuteStart, minuteUsed, dayStart, dayUsed, bannedUntil, beginsBan }
end

if penaltyChanged then
  local rememberedUntil = 0
  if bannedUntil > 0 then
    rememberedUntil = bannedUntil + ${policy.memoryMs}
  end
  save(KEYS[2], math.max(episodeRetryAt, rememberedUntil), '0:0:0:0:%d:%d;3;%d:%d:%d',
    bannedUntil, banLevel, episodeStart, episodeRetryAt, strikes)
end
if accountChanged then
  save(KEYS[1], dayStart, '%d:%d:%d:%d', minuteStart, minuteUsed, dayStart, dayUsed)
end
return replies`;
}

/** The arguments of the lift script, in the order in which it reads them. */
export function liftArguments(call: {
  readonly nowMs: number | undefined;
  readonly liftedAgoMs: number;
}): (string | number)[] {
  return [call.nowMs ?? "", call.liftedAgoMs];
}

/** Ends a ban that began before the lift. KEYS: the account and the penalty. ARGV: `liftArguments`. */
export const liftScript: string = `${readKeys}
local liftedAt = now - tonumber(ARGV[2])
if episodeStart <= liftedAt then
  redis.call('DEL', KEYS[2])
end`;

/** Reads a stored penalty as the scripts do. */
export function readPenalty(stored: string): Penalty {
  const [, bannedUntil, level] = /^\d+:\d+:\d+:\d+:(\d+):(\d+)/.exec(stored) ?? [];
  const [, episodeStart = 0, retryAt = 0, strikes = 0] = /;3;(\d+):(\d+):(\d+)$/.exec(stored) ?? [];
  return {
    episodeStartMs: Number(episodeStart),
    retryAtMs: Number(retryAt),
    strikes: Number(strikes),
    bannedUntilMs: Number(bannedUntil),
    banLevel: Number(level),
  };
}
