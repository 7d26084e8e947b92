--- @include lib-state lib-calls
-- Reads the outbox a slice at a time, or takes parcels out of it that their partitions have taken in.
--
-- ARGV     1 now, or "" · 2 cursor, "": nothing is read · 3 about how many parcels · 4 … fields that were delivered
-- Returns  { "O", next cursor, field, groups, … }
local drops = {}
for at = 4, #ARGV do drops[#drops + 1] = ARGV[at] end
callMany("HDEL", KO, drops)
if ARGV[2] == "" then return { "O", "0" } end
local page = call("HSCAN", KO, ARGV[2], "COUNT", ARGV[3])
local answer = { "O", page[1] }
for at = 1, #page[2], 2 do
  if page[2][at] ~= "" then
    insert(answer, page[2][at])
    insert(answer, page[2][at + 1])
  end
end
return answer
