--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- Counts identities of an epoch by their states, a slice at a time.
--
-- ARGV     1 now, or "" · 2 cursor · 3 how many buckets · 4 number of the epoch
-- Returns  { "P", next cursor, identities, pending, waiting, leased, done, failed }
moveDueNow()
local page = call("HSCAN", KS, ARGV[2], "COUNT", ARGV[3])
local wanted, all, counts, ids = tonumber(ARGV[4]), 0, { 0, 0, 0, 0, 0 }, {}
for each = 1, #page[2], 2 do
  local field, bucket = page[2][each], page[2][each + 1]
  if field ~= "" and unpack_(">H", field) == wanted then
    for at = 1, #bucket, ENTRY do
      local kind = byte(bucket, at + 16)
      all = all + 1
      if kind == GONE_DONE then counts[4] = counts[4] + 1
      elseif kind == LIVE then ids[#ids + 1] = unpack_(">I6", bucket, at + 18) end
    end
  end
end
readRecords(ids)
for _, id in ipairs(ids) do
  local bytes = recordOf(id)
  local place = ({ [0] = 1, 2, 1, 5, 4, 4 })[bytes and byte(bytes) % 8 or STATE_KEPT]
  if call("HEXISTS", KL, pack(">I6", id)) == 1 then place = 3 end
  counts[place] = counts[place] + 1
end
return { "P", page[1], all, counts[1], counts[2], counts[3], counts[4], counts[5] }
