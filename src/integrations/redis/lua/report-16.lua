--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- The counters of a partition.
--
-- ARGV     1 now, or "" · 2 "1": counts of rules, depths, refusals too
-- Returns  { "R", now, counters packed, fields of the state, fields of the rules, 1: more has become due, parcels in the outbox }: nothing is
--          read but hashes of a few entries
moveDueNow()
local answer = { "R", tostring(now), call("HGET", KM, "k"), {}, {}, hasDue() and 1 or 0, call("HLEN", KO) - 1 }
if ARGV[2] == "1" then
  answer[4] = call("HGETALL", KM)
  answer[5] = call("HGETALL", KP)
end
return answer
