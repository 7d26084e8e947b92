--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- Everything of a partition, a slice at a time: records in the order of their numbers, or hosts.
--
-- ARGV     1 now, or "" · 2 "records", first number, how many · or "hosts" or "seen", cursor, about how many
-- Returns  { "N", next number or "": none, for each record as scan-16.lua }
--          { "N", next cursor, for each host msgpack { name, turn, joined, ready at, blocked until, held, steered, kept, decided, settings or
--          false }, or of a domain's next new host { name, at } }
--          { "N", next cursor, field, entries of finished identities … }
if ARGV[2] == "seen" then
  local page = call("HSCAN", KS, ARGV[3], "COUNT", ARGV[4])
  local answer, ids = { "N", page[1] }, {}
  for each = 2, #page[2], 2 do
    for at = 17, #page[2][each], ENTRY do
      if byte(page[2][each], at) == LIVE then ids[#ids + 1] = unpack_(">I6", page[2][each], at + 2) end
    end
  end
  readRecords(ids)
  for each = 1, #page[2], 2 do
    local bucket, entries = page[2][each + 1], {}
    for at = 1, #bucket, ENTRY do
      local kind = kindOf(bucket, at)
      if kind ~= LIVE then
        local word = byte(bucket, at + 16) == LIVE and goneWord(kind, byte(bucket, at + 17), 1) or sub(bucket, at + 16, at + ENTRY - 1)
        entries[#entries + 1] = sub(bucket, at, at + 15) .. word
      end
    end
    answer[#answer + 1], answer[#answer + 2] = page[2][each], concat(entries)
  end
  return answer
end
if ARGV[2] == "hosts" then
  local page = call("HSCAN", KH, ARGV[3], "COUNT", ARGV[4])
  local answer = { "N", page[1] }
  for each = 1, #page[2], 2 do
    local name, text = page[2][each], page[2][each + 1]
    if byte(name) == 254 then insert(answer, cmsgpack.pack({ name, tonumber(text) }))
    elseif name ~= "" then
      local host = parseHost(name, text)
      insert(answer, cmsgpack.pack({ name, host[H_TURN], host[H_JOINED], host[H_READYAT], host[H_BLOCK], host[H_HELD], host[H_STEERED],
        host[H_KEPT], host[H_DECIDED], host[H_SETTINGS] }))
    end
  end
  return answer
end
local from, count = tonumber(ARGV[3]), tonumber(ARGV[4])
local last = math.min(from + count, C[NEXT_ID])
local ids, members, all = {}, {}, {}
for id = from, last - 1 do all[#all + 1] = id end
readRecords(all)
for _, id in ipairs(all) do
  if recordOf(id) then
    ids[#ids + 1] = id
    members[#members + 1] = pack(">I6", id)
  end
end
local answer = { "N", last < C[NEXT_ID] and last or "" }
showRecords(answer, ids, members)
return answer
