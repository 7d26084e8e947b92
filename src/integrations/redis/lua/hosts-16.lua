--- @include lib-keys lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- Forgets everything of a partition, and what of hosts outlives that: clocks that run, holds, what was set by hand, failures in a row; read
-- a slice at a time, or written anew.
--
-- ARGV     1 now, or "" · 2 "read", cursor, about how many · or "clear" or "write", batch, hosts as they were read, in the order in which they
--          join: "clear" forgets everything first, but the rules, the user's state, a pause
-- Returns  { "Y", next cursor, host as msgpack: { name, turn, joined, ready at, blocked until, held, steered, kept, settings or false }, … }
-- Numbers of records go on, so that what another process does to one of before hits none of now.
local function forgetAll()
  local names, state, terms = { "format", "partitions", "served", "rules", "user" }, {}, call("HGETALL", KP)
  local values = call("HMGET", KM, unpack(names))
  local kept = { C[NEXT_ID], C[NEXT_QUEUE], C[VERSION], C[RULES], C[GENERATION] + 1, C[PAUSED], C[MAX_DELIVERIES] }
  call("UNLINK", unpack(KEYS))
  makeKeys()
  for at, name in ipairs(names) do
    if values[at] then insert(state, name) insert(state, values[at]) end
  end
  callMany("HSET", KM, state)
  for at = 1, #terms, 2 do
    if #terms[at] == 2 then call("HSET", KP, terms[at], terms[at + 1]) end
  end
  for at = 1, COUNTERS do C[at] = 0 end
  C[NEXT_ID], C[NEXT_QUEUE], C[VERSION], C[RULES], C[GENERATION], C[PAUSED], C[MAX_DELIVERIES] = unpack(kept)
  C[SLEEPERS] = 1
end

if ARGV[2] ~= "read" then
  if answerOf(ARGV[3]) then return { "Y", "0" } end
  workWhenFull()
  if ARGV[2] == "clear" then forgetAll() end
  for at = 4, #ARGV do
    local given = cmsgpack.unpack(ARGV[at])
    local host = hostOf(given[1])
    host[H_READYAT], host[H_BLOCK], host[H_HELD], host[H_STEERED], host[H_KEPT] = given[4], given[5], given[6], given[7], given[8]
    host[H_SETTINGS] = given[9]
  end
  keepAnswer(ARGV[3], "")
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
