--- @include lib-state lib-seen lib-record lib-host lib-lease
-- Records, a slice at a time, in no order.
--
-- ARGV     1 now, or "" · 2 cursor · 3 about how many segments
-- Returns  { "N", next cursor, for each record: number 6, its lease's length 2, lease, due at 8 (0: none), failure's length 2, failure, record }
moveDueNow()
local page = call("HSCAN", KC, ARGV[2], "COUNT", ARGV[3])
local answer = { "N", page[1] }
local texts = {}
for at = 1, #page[2], 2 do
  local field = page[2][at]
  if #field == 6 then
    segments[field] = page[2][at + 1]
    insert(texts, field)
  end
end
local marks = {}
for at, field in ipairs(texts) do marks[at] = "m" .. field end
for at, value in ipairs(getMany(KC, marks)) do masks[texts[at]] = value and byte(value) or 0 end
local ids, members = {}, {}
for _, field in ipairs(texts) do
  local first = unpack_(">I6", field) * SEGMENT
  for index = 0, SEGMENT - 1 do
    if recordOf(first + index) then
      ids[#ids + 1] = first + index
      members[#members + 1] = pack(">I6", first + index)
    end
  end
end
local leases, failures = getMany(KL, members), getMany(KX, members)
local dues = #members > 0 and call("ZMSCORE", KW, unpack(members)) or {}
for at, id in ipairs(ids) do
  local lease, failure = leases[at] or "", failures[at] or ""
  insert(answer, members[at] .. pack(">H", #lease) .. lease .. pack(">d", tonumber(dues[at] or "0") or 0)
    .. pack(">H", #failure) .. failure .. recordOf(id))
end
return answer
