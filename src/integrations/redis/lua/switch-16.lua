--- @include lib-state
-- Pauses hand-out until a time, or ends that; or writes fields of the state.
--
-- ARGV     1 now, or "" · 2 "pause", until · or "set", field, value …
-- Returns  { "W" }
workWhenFull()
if ARGV[2] == "pause" then
  C[PAUSED] = tonumber(ARGV[3])
  wake(ARGV[4])
  saveCounters()
else
  for at = 3, #ARGV, 2 do call("HSET", KM, ARGV[at], ARGV[at + 1]) end
end
return { "W" }
