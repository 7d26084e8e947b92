--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit
-- Pushes a batch from outside.
--
-- ARGV     1 now, or "" · 2 batch · 3 version of the rules · 4 capacity, or "" · 5 rows (lib-admit.lua), msgpack, or ""
--          6 duplicates that the client has dropped by itself · 7 refusals by reason, msgpack · 8 channel to wake sleepers, or ""
-- Returns  { "C", codes, generation, microseconds } · { "V", version }: the rules have changed, match again · { "A", codes } done before
local done = answerOf(ARGV[2])
if done then return { "A", done, C[GENERATION] } end
if tonumber(ARGV[3]) ~= C[VERSION] then return { "V", C[VERSION] } end
if hasDue() then
  refuseWhenFull()
  moveDueOf(DUE_MAX)
end
local codes = ARGV[5] == "" and "" or admit(cmsgpack.unpack(ARGV[5]), tonumber(ARGV[4]) or math.huge)
local dropped = tonumber(ARGV[6])
C[PUSHED] = C[PUSHED] + dropped
C[DUPLICATE] = C[DUPLICATE] + dropped
if ARGV[7] ~= "" then
  for reason, count in pairs(cmsgpack.unpack(ARGV[7])) do
    call("HINCRBY", KM, "x:" .. reason, count)
    C[PUSHED] = C[PUSHED] + count
  end
end
keepAnswer(ARGV[2], codes)
if wokeSomething then wake(ARGV[8]) end
saveAll()
return { "C", codes, C[GENERATION], spent() }
