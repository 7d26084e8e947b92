--- @include lib-state lib-seen lib-record lib-host lib-lease
-- What of hosts outlives a `clear`: clocks that run, holds, what was set by hand, failures in a row; read a slice at a time, or written anew.
--
-- ARGV     1 now, or "" · 2 "read", cursor, about how many · or "write", hosts as they were read, in the order in which they join
-- Returns  { "Y", next cursor, host as msgpack: { name, turn, joined, ready at, blocked until, held, steered, kept, settings or false }, … }
if ARGV[2] == "write" then
  workWhenFull()
  for at = 3, #ARGV do
    local given = cmsgpack.unpack(ARGV[at])
    local host = hostOf(given[1])
    host[H_READYAT], host[H_BLOCK], host[H_HELD], host[H_STEERED], host[H_KEPT] = given[4], given[5], given[6], given[7], given[8]
    host[H_SETTINGS] = given[9]
  end
  saveAll()
  return { "Y", "0" }
end
moveDueNow()
local page = call("HSCAN", KH, ARGV[3], "COUNT", ARGV[4])
local answer = { "Y", page[1] }
for each = 1, #page[2], 2 do
  local name = page[2][each]
  if name ~= "" and byte(name) ~= 254 then
    local host = parseHost(name, page[2][each + 1])
    local settings = host[H_SETTINGS]
    local isSet = host[H_HELD] or settings and (settings.delay >= 0 or settings.limit > 0 or settings.address)
    if isSet or math.max(host[H_READYAT], host[H_BLOCK]) > now then
      if settings then settings.admitted, settings.domain = 0, nil end
      insert(answer, cmsgpack.pack({ name, host[H_TURN], host[H_JOINED], host[H_READYAT], host[H_BLOCK], host[H_HELD], host[H_STEERED],
        host[H_KEPT], settings }))
    end
  end
end
return answer
