--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit
-- Takes in what an export has: records in their states and their order, finished identities, hosts, counts.
--
-- ARGV     1 now, or "" · 2 batch · 3 what · 4 list, msgpack
--   "records"  { fingerprint, epoch, state, attempts, hand-outs, due, failure msgpack or "", host, rule, priority, start, depth, record, again, nameless }
--   "seen"     { fingerprint, epoch, kind, depth, attempts }
--   "hosts"    as dump-16.lua has them
--   "state"    { turn, joined, pass, next failure, passes by rule, done and served by rule, added to counters by place, fields that are added to }
-- Returns  { "I", how many were new }
local done = answerOf(ARGV[2])
if done then return { "I", tonumber(done) } end
refuseWhenFull()
local what, list, count = ARGV[3], cmsgpack.unpack(ARGV[4]), 0

local function identity(epoch, print)
  local family = familyOf(epoch ~= "" and assert(familyNamed(epoch), "more than 65535 epochs") or 0)
  local field = bucketField(family, print)
  readBuckets({ field })
  return family, field, entryAt(buckets[field], print)
end

local function addEntry(family, field, print, word)
  buckets[field] = buckets[field] .. print .. word
  dirtyBuckets[field] = true
  family.count = family.count + 1
end

local stands = {
  [STATE_PENDING] = function(id, one, host)
    unplace(host)
    appendIds(queueOf(host, one[9], one[10], one[11]), pack(">I6", id), 1)
    C[PENDING] = C[PENDING] + 1
    countRule(one[9], 1, 1)
  end,
  [STATE_WAITING] = function(id, one, host)
    call("ZADD", KW, one[6], pack(">I6", id))
    waitAt(host, id)
    C[WAITING] = C[WAITING] + 1
  end,
  [STATE_FAILED] = function(id, one)
    call("HSET", KX, pack(">I6", id), one[7])
    C[FAILED] = C[FAILED] + 1
    countRule(one[9], 4, 1)
  end,
  [STATE_RESTING] = function(id, one)
    call("ZADD", KW, one[6], pack(">I6", id))
    C[DONE], C[RESTING] = C[DONE] + 1, C[RESTING] + 1
  end,
  [STATE_KEPT] = function() C[DONE], C[KEPT] = C[DONE] + 1, C[KEPT] + 1 end,
}

local function takeRecord(one)
  local isNameless, bytes = one[15], one[13]
  local family, field, entry = identity(one[2], one[1])
  if entry and not isNameless then return end
  if isNameless then bytes = asNameless(bytes) end
  if family.number > 0 then bytes = withFamily(bytes, family.number) end
  bytes = withPriority(withState(bytes, one[3], one[4], one[5]), one[10])
  if one[14] then bytes = withAgain(bytes, true) end
  addRecord(bytes)
  local id = C[NEXT_ID] - 1
  if not isNameless then addEntry(family, field, one[1], liveWord(id, one[12])) end
  stands[one[3]](id, one, hostOf(one[8]))
  C[ACCEPTED] = C[ACCEPTED] + 1
  count = count + 1
end

local function takeSeen(one)
  local family, field, entry = identity(one[2], one[1])
  if entry then return end
  addEntry(family, field, one[1], goneWord(one[3], one[4], one[5]))
  local place = one[3] == GONE_DONE and DONE or REMOVED
  C[place] = C[place] + 1
  C[ACCEPTED] = C[ACCEPTED] + 1
  count = count + 1
end

local function takeHost(one)
  if byte(one[1]) == 254 then
    call("HSET", KH, one[1], string.format("%.17g", one[2]))
    return
  end
  local host = hostOf(one[1])
  unplace(host)
  host[H_TURN], host[H_JOINED], host[H_READYAT], host[H_BLOCK] = one[2], one[3], one[4], one[5]
  host[H_HELD], host[H_STEERED], host[H_KEPT], host[H_DECIDED], host[H_SETTINGS] = one[6], one[7], one[8], one[9], one[10]
  count = count + 1
end

local function takeState(one)
  C[TURN], C[JOINED] = math.max(C[TURN], one[1]), math.max(C[JOINED], one[2])
  C[PASS], C[NEXT_FAILURE] = math.max(C[PASS], one[3]), math.max(C[NEXT_FAILURE], one[4])
  for number, pass in pairs(one[5]) do
    local member = pack(">H", tonumber(number))
    call("HSET", KP, "s" .. member, pass)
    if call("ZSCORE", KG, member) then call("ZADD", KG, pass, member) end
  end
  for number, counts in pairs(one[6]) do
    countRule(tonumber(number), 3, counts[1])
    countRule(tonumber(number), 5, counts[2])
  end
  for place, by in pairs(one[7]) do C[tonumber(place)] = C[tonumber(place)] + by end
  for field, by in pairs(one[8]) do call("HINCRBY", KM, field, by) end
end

local take = ({ records = takeRecord, seen = takeSeen, hosts = takeHost, state = takeState })[what]
for _, one in ipairs(list) do take(one) end
keepAnswer(ARGV[2], tostring(count))
saveAll()
return { "I", count }
