--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- Records, a slice at a time, in no order.
--
-- ARGV     1 now, or "" · 2 cursor · 3 about how many
-- Returns  { "N", next cursor, for each record: number 6, length 2 of its lease's token and deadline, those, due at 8 (0: none), failure's length 2, failure, record }
moveDueNow()
local page = call("HSCAN", KC, ARGV[2], "COUNT", ARGV[3])
local answer = { "N", page[1] }
local ids, members = {}, {}
for at = 1, #page[2], 2 do
  local field = page[2][at]
  if field ~= "" then
    local id = unpack_(">I6", field)
    records[id], ids[#ids + 1], members[#members + 1] = page[2][at + 1], id, field
  end
end
showRecords(answer, ids, members)
return answer
