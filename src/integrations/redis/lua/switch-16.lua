--- @include lib-state lib-calls
-- Pauses hand-out until a time, or ends that; or writes fields of the state.
--
-- ARGV     1 now, or "" · 2 "pause", until · or "set", field, value … · or "claim", field, value before, "": none, value from now on
-- Returns  { "W" }, of a claim { "W", 1: claimed, 0: another value was there }
workWhenFull()
if ARGV[2] == "pause" then
  C[PAUSED] = tonumber(ARGV[3])
  wake(ARGV[4])
  saveCounters()
elseif ARGV[2] == "claim" then
  local before = call("HGET", KM, ARGV[3]) or ""
  -- The answer to the same claim was lost.
  if before == ARGV[5] then return { "W", 1 } end
  if before ~= ARGV[4] then return { "W", 0 } end
  call("HSET", KM, ARGV[3], ARGV[5])
  return { "W", 1 }
else
  for at = 3, #ARGV, 2 do call("HSET", KM, ARGV[at], ARGV[at + 1]) end
end
return { "W" }
