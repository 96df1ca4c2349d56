-- The reserve script of version 1.0, under its default ban policy.
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
local minuteStart, minuteUsed = windowAt(60000, ms, mu)
local dayStart, dayUsed = windowAt(86400000, ds, du)
local function save(key, neededUntil, format, ...)
  redis.call('SET', key, string.format(format, ...), 'PX', string.format('%d', neededUntil + 172800000 - now))
end
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
    outcome = 3
  elseif cost == 0 then
    outcome = 0
  elseif cost > minuteLimit or cost > dayLimit then
    outcome = 4
  elseif not dayRefuses and minuteUsed + cost <= minuteLimit then
    outcome = 1
    minuteUsed, dayUsed = minuteUsed + cost, dayUsed + cost
    hasSpent = true
  else
    outcome = 2
  end
  if outcome == 2 and KEYS[2] then
    hasRefused = true
    local retryAt = dayRefuses and dayStart + 86400000 or minuteStart + 60000
    if episodeEnd <= now then
      episodeStart, episodeEnd, further, strikes = now, retryAt, 0, 0
    else
      further = further + 1
      episodeEnd = math.min(episodeEnd, retryAt)
      local inFlight = now - episodeStart <= 2000 and further <= minuteLimit
      local early = episodeEnd - now <= 1000
      if not (inFlight or early) then strikes = strikes + 1 end
      if 20 > 0 and strikes >= math.max(20, math.ceil(minuteLimit / 4)) then
        if bannedUntil == 0 or now >= bannedUntil + 86400000 then level = 0 end
        bannedUntil = now + math.min(60000 * 2 ^ level, 3600000)
        episodeStart, episodeEnd, further, strikes, level = 0, 0, 0, 0, level + 1
        if bannedUntil > now then outcome = 3 end
      end
    end
  end
  local bannedUntilMs = outcome == 3 and bannedUntil or 0
  replies[time] = { outcome, now, minuteStart, minuteUsed, dayStart, dayUsed, bannedUntilMs }
end
if hasRefused then
  local rememberedUntil = bannedUntil == 0 and 0 or bannedUntil + 86400000
  save(KEYS[2], math.max(episodeEnd, rememberedUntil), '%d:%d:%d:%d:%d:%d',
    episodeStart, episodeEnd, further, strikes, bannedUntil, level)
end
if hasSpent then save(KEYS[1], dayStart, '%d:%d:%d:%d', minuteStart, minuteUsed, dayStart, dayUsed) end
return replies
