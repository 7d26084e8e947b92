--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit
-- Changes records that are not leased, by their numbers: a slice of a sweep, or one.
--
-- ARGV     1 now, or "" · 2 batch · 3 channel to wake sleepers, or "" · 4 "requeue", "remove", "priority", "delay", "forget",
--          "rule", "identity": one that is forgotten, with what is known of it · 5 argument: of "identity" its fingerprint, epoch in 6; of "rule" msgpack: { rule, body } for each, rule 65535: none takes it · 6 … numbers
-- Returns  { "E", how many were changed, microseconds }
local done = answerOf(ARGV[2])
if done then return { "E", tonumber(done) } end
workWhenFull()
moveDue()
local what, argument = ARGV[4], tonumber(ARGV[5])
local changes = what == "rule" and cmsgpack.unpack(ARGV[5])
local ids, members = {}, {}
local count = 0

-- A finished identity goes at once; that of a live record goes with it.
local function forgetIdentity()
  local number = 0
  if ARGV[6] ~= "" then number = tonumber(call("HGET", KM, "e:" .. ARGV[6]) or "-1") end
  if number < 0 then return end
  local family = familyOf(number)
  local field = bucketField(family, ARGV[5])
  readBuckets({ field })
  local at = entryAt(buckets[field], ARGV[5])
  if not at then return end
  local kind = kindOf(buckets[field], at)
  if kind == LIVE then
    ids[1] = unpack_(">I6", buckets[field], at + 18)
    members[1] = pack(">I6", ids[1])
    return
  end
  dropEntry(family, field, at)
  if kind == GONE_DONE then
    C[DONE] = C[DONE] - 1
    C[FORGOTTEN] = C[FORGOTTEN] + 1
  end
  count = 1
end

if what == "identity" then
  what = "forget"
  forgetIdentity()
  C[GENERATION] = C[GENERATION] + 1
else
  for at = 6, #ARGV do
    members[#members + 1] = ARGV[at]
    ids[#ids + 1] = unpack_(">I6", ARGV[at])
  end
end
readRecords(ids)
local leases = #members > 0 and getMany(KL, members) or {}

-- The queue of a server's protocol counts its finished and failed URLs in its settings (lib-queue.lua).
local function leaveCount(record, bytes, field)
  local settings = hostOf(ownHost(record, bytes))[H_SETTINGS]
  if settings and settings[field] then settings[field] = settings[field] - 1 end
end

-- Takes a pending or waiting record out of where it stands.
local function leave(id, member, bytes, record)
  if record.state == STATE_WAITING then
    call("ZREM", KW, member)
    C[WAITING] = C[WAITING] - 1
    leaveWaiting(hostOf(ownHost(record, bytes)))
  elseif record.state == STATE_RESTING or record.state == STATE_KEPT then
    call("ZREM", KW, member)
    C[DONE] = C[DONE] - 1
    if record.state == STATE_RESTING then C[RESTING] = C[RESTING] - 1 else
      C[KEPT] = C[KEPT] - 1
      leaveCount(record, bytes, "qc")
    end
  elseif record.state == STATE_FAILED then
    call("HDEL", KX, member)
    leaveCount(record, bytes, "qf")
    C[FAILED] = C[FAILED] - 1
    countRule(record.rule, 4, -1)
  else
    leaveQueue(record, bytes)
    countRule(record.rule, 1, -1)
  end
end

local function stand(id, bytes, record)
  local new = renumber(id, bytes, record)
  appendTo(hostOf(ownHost(record, bytes)), record, new)
  C[PENDING] = C[PENDING] + 1
  countRule(record.rule, 1, 1)
end

local dues = {}
if changes then
  for at, due in ipairs(call("ZMSCORE", KW, unpack(members))) do dues[ids[at]] = due or now end
end

local function isLive(record) return record.state == STATE_PENDING or record.state == STATE_WAITING end

local actions = {
  requeue = function(id, member, bytes, record)
    if record.state ~= STATE_FAILED then return false end
    leave(id, member, bytes, record)
    -- All attempts are before it again.
    record.attempts = 1
    stand(id, withState(bytes, STATE_PENDING, 1, record.deliveries), record)
    return true
  end,
  remove = function(id, member, bytes, record)
    if not isLive(record) and record.state ~= STATE_RESTING and record.state ~= STATE_KEPT then return false end
    leave(id, member, bytes, record)
    markGone(id, record, GONE_REMOVED, record.attempts - 1)
    dropRecord(id)
    C[REMOVED] = C[REMOVED] + 1
    return true
  end,
  priority = function(id, member, bytes, record)
    if not isLive(record) then return false end
    if record.priority == argument then return true end
    if record.state == STATE_PENDING then
      leave(id, member, bytes, record)
      C[PENDING] = C[PENDING] + 1
      countRule(record.rule, 1, 1)
      insertId(queueOf(hostOf(ownHost(record, bytes)), record.rule, argument, record.isStart), id)
    end
    setRecord(id, withPriority(bytes, argument))
    return true
  end,
  delay = function(id, member, bytes, record)
    if not isLive(record) then return false end
    if argument <= now and record.state == STATE_PENDING then return true end
    leave(id, member, bytes, record)
    if argument > now then
      setRecord(id, withAgain(withState(bytes, STATE_WAITING, record.attempts, record.deliveries), false))
      call("ZADD", KW, argument, member)
      waitAt(hostOf(ownHost(record, bytes)), id)
      C[WAITING] = C[WAITING] + 1
    else
      stand(id, withState(bytes, STATE_PENDING, record.attempts, record.deliveries), record)
    end
    return true
  end,
  -- Another rule takes it, and its place and its priority stay; or none does.
  rule = function(id, member, bytes, record, change)
    if not isLive(record) then return false end
    leave(id, member, bytes, record)
    if change[1] == NO_RULE then
      record.rule, record.attempts = NO_RULE, record.attempts - 1
      failRecord(id, withRule(bytes, NO_RULE), record, "no-rule")
      return true
    end
    local host = hostOf(ownHost(record, bytes))
    bytes = underRule(record, change[1], change[2])
    setRecord(id, bytes)
    if record.state == STATE_WAITING then
      call("ZADD", KW, dues[id], member)
      C[WAITING] = C[WAITING] + 1
      waitAt(host, id)
    else
      C[PENDING] = C[PENDING] + 1
      countRule(record.rule, 1, 1)
      enqueue(id, bytes, record, host)
    end
    return true
  end,
  -- As `forget` of one identity: what was known of it makes way for what is put.
  forget = function(id, member, bytes, record)
    leave(id, member, bytes, record)
    if not record.isNameless then
      local family = familyOf(record.family)
      local field, at = entryOfRecord(family, record.prefix, id)
      if field then dropEntry(family, field, at) end
    end
    dropRecord(id)
    C[FORGOTTEN] = C[FORGOTTEN] + 1
    return true
  end,
}
for at, id in ipairs(ids) do
  local bytes = recordOf(id)
  if bytes and not leases[at] and actions[what](id, members[at], bytes, readRecord(bytes), changes and changes[at]) then count = count + 1 end
end
keepAnswer(ARGV[2], tostring(count))
if count > 0 then wake(ARGV[3]) end
saveAll()
return { "E", count, spent() }
