--- @include lib-state lib-calls
-- Takes a set of rules up: numbers, terms, and a version that batches must name from now on.
--
-- ARGV     1 now, or "" · 2 version before, "" any · 3 version from now on · 4 rules that are active · 5 the set as text
--          6 field of `p` 7 value …
-- Returns  { "U", version }, or { "V", version } where another one was quicker
if ARGV[2] ~= "" and tonumber(ARGV[2]) ~= C[VERSION] then return { "V", C[VERSION] } end
local sets = {}
for at = 6, #ARGV do sets[#sets + 1] = ARGV[at] end
callMany("HSET", KP, sets)
call("HSET", KM, "rules", ARGV[5])
C[VERSION] = tonumber(ARGV[3])
local count = math.max(tonumber(ARGV[4]), C[RULES])
if C[RULES] <= 1 and count > 1 then
  -- A rule that was alone has no share yet.
  local first = call("ZRANGEBYLEX", KR, "-", "(\253", "LIMIT", 0, 1)[1]
  if first then call("ZADD", KG, C[PASS], sub(first, 1, 2)) end
end
C[RULES] = count
saveCounters()
return { "U", C[VERSION] }
