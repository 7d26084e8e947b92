-- Whether a partition is as a poll left it that found nothing, before the time that it named: another poll would find nothing either.
--
-- KEYS     1 m, whose counters change with everything that a poll may find
-- ARGV     1 now, or "" · 2 counters, as that poll returned them · 3 the time that it named, "inf": none
-- Returns  { now }, or {}: it has changed, or it is time
local call = redis.call
if call("HGET", KEYS[1], "k") ~= ARGV[2] then return {} end
local now = tonumber(ARGV[1])
if not now then
  local time = call("TIME")
  now = time[1] * 1000 + time[2] / 1000
end
return now < tonumber(ARGV[3]) and { now } or {}
