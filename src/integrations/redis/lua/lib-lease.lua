-- Leases and what ends them.
--
--   lease   fencing token 8 · deadline 8 · the host's clock and turn before 8, 6 · hand-outs 2 · attempts, rule, depth, beginning of the
--           fingerprint, family of its record 1, 2, 2, 6, 2 · nameless 1 · host
--
-- A result whose token is not that of the lease, or that comes at or after the deadline, is late and changes nothing.
--- @const LEASE = ">c8ddI6HBHHc6HB"

local function readLease(text)
  local lease = {}
  local at
  local nameless
  lease.token, lease.deadline, lease.readyBefore, lease.turnBefore, lease.deliveries, lease.attempts, lease.rule,
    lease.depth, lease.prefix, lease.family, nameless, at = unpack_(LEASE, text)
  lease.isNameless = nameless == 1
  lease.host = sub(text, at)
  return lease
end

local leaseDrops = {}
local function dropLease(id)
  local member = pack(">I6", id)
  leaseDrops[#leaseDrops + 1] = member
end

local function saveLeases()
  callMany("HDEL", KL, leaseDrops)
  callMany("ZREM", KE, leaseDrops)
  leaseDrops = {}
end

local function blockHost(host, untilMs)
  if untilMs > host[H_BLOCK] then host[H_BLOCK] = untilMs end
end

-- What a visit showed of its host.
local function takeOutcome(host, rule, outcome)
  if rule.adaptMax and outcome.latency then
    settingsOf(host).adaptive = math.min(math.max(rule.adaptFactor * outcome.latency, rule.adaptMin), rule.adaptMax)
  end
  if outcome.bytes and outcome.bytes > 0 and (rule.budgetBytes or rule.budgetUrls) then
    local settings = settingsOf(host)
    settings.bytes = settings.bytes + outcome.bytes
    host[H_KEPT] = true
  end
  if outcome.retryAfter and not isRuleHost(host) then blockHost(host, now + outcome.retryAfter) end
end

-- The host that an outcome is about: a rule without politeness has one queue for all of them.
local function steeredOf(host, id, outcome)
  if not isRuleHost(host) or not (outcome.retryAfter or outcome.bytes) then return host end
  local bytes = recordOf(id)
  if not bytes then return host end
  local own = hostOf(ownHost(readRecord(bytes), bytes))
  if outcome.retryAfter then C[STEERED] = 1 end
  unplace(own)
  return own
end

local function isBadStatus(status) return status ~= nil and (status == 429 or status >= 500) end

-- The end of a visit: its host's clock begins again.
local function endVisit(host, rule, at)
  unplace(host)
  if host[H_LEASED] > 0 then host[H_LEASED] = host[H_LEASED] - 1 end
  if not isRuleHost(host) then host[H_READYAT] = at + delayOf(host, rule) end
end

-- Takes a hand-out back: the host is as if it had not been.
local function cancelVisit(host, lease)
  unplace(host)
  if host[H_LEASED] > 0 then host[H_LEASED] = host[H_LEASED] - 1 end
  if isRuleHost(host) then return end
  host[H_READYAT] = lease.readyBefore
  host[H_TURN] = lease.turnBefore
end

local givenUp = {}
-- Counts failures of a host in a row; blocks it after too many of them.
local function countVisit(host, rule, isFailure)
  if not rule.failAfter then return end
  local settings = settingsOf(host)
  settings.failures = isFailure and settings.failures + 1 or 0
  if settings.failures < rule.failAfter then return end
  local doublings = math.min(settings.failures - rule.failAfter, 40)
  blockHost(host, now + math.min(rule.failMax, rule.failBase * 2 ^ doublings))
  if rule.giveUp and settings.failures >= rule.giveUp then givenUp[host[H_NAME]] = host end
end

local function noteFailure(id, bytes, reason, status)
  call("HSET", KX, pack(">I6", id), cmsgpack.pack({ reason, now, status or 0 }))
end

-- The record fails: it is kept until it is requeued or forgotten.
local function failRecord(id, bytes, record, reason, status)
  setRecord(id, withState(bytes, STATE_FAILED, record.attempts, record.deliveries))
  noteFailure(id, bytes, reason, status)
  C[FAILED] = C[FAILED] + 1
  countRule(record.rule, 4, 1)
end

-- Puts a record into the queue of its host, at the place of its number.
local function enqueue(id, bytes, record, host)
  unplace(host)
  insertId(queueOf(host, record.rule, record.priority, record.isStart), id)
end

-- Gives a record a new number, behind all others; its identity follows.
local function renumber(id, bytes, record)
  dropRecord(id)
  local new = addRecords({ bytes })
  if not record.isNameless then
    local family = familyOf(record.family)
    local field, at = entryOfRecord(family, record.prefix, id)
    if field then setWord(field, at, liveWord(new, record.depth)) end
  end
  return new
end

-- Marks an identity as finished.
local function markGone(id, record, kind, attempts)
  if record.isNameless then return end
  local family = familyOf(record.family)
  local field, at = entryOfRecord(family, record.prefix, id)
  if field then setWord(field, at, goneWord(kind, record.depth, attempts)) end
end

local function clampPriority(priority)
  if priority > 9007199254740991 then return 9007199254740991 end
  if priority < -9007199254740991 then return -9007199254740991 end
  return priority
end

-- A body that says of which family its identity is.
local function withFamily(body, number)
  local flags = byte(body, 11)
  local at = flags % 2 >= HAS_PRIORITY and 20 or 12
  return sub(body, 1, 10) .. string.char(flags + HAS_FAMILY) .. sub(body, 12, at - 1) .. pack(">H", number) .. sub(body, at)
end

local function asNameless(body)
  local flags = byte(body, 11)
  return sub(body, 1, 10) .. string.char(flags + IS_NAMELESS) .. sub(body, 12)
end

-- In place of a rule's number: none takes it.
--- @const NO_RULE = 65535
-- A record's bytes under another rule, with its state, priority, family and hand-outs; the record follows.
local function underRule(record, rule, body)
  record.rule = rule
  if record.isNameless and byte(body, 11) < IS_NAMELESS then body = asNameless(body) end
  local bytes = withPriority(pack(">BBH", record.state, math.min(record.attempts, 255), math.min(record.deliveries, 65535)) .. body,
    record.priority)
  if record.family > 0 then bytes = sub(bytes, 1, 4) .. withFamily(sub(bytes, 5), record.family) end
  return bytes
end

local function maxAttempts(record)
  if record.max > 0 then return record.max end
  return ruleOf(record.rule).attempts or 3
end

-- A page that is done goes, or rests until it comes again.
local function finish(id, record)
  local rule = ruleOf(record.rule)
  C[DONE] = C[DONE] + 1
  countRule(record.rule, 3, 1)
  if rule.every and not record.isNameless and record.family == 0 and recordOf(id) then
    C[RESTING] = C[RESTING] + 1
    setRecord(id, withState(recordOf(id), STATE_RESTING, record.attempts, record.deliveries))
    call("ZADD", KW, now + rule.every, pack(">I6", id))
    return
  end
  if record.isNameless then C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1 end
  dropRecord(id)
  markGone(id, record, GONE_DONE, record.attempts)
end

-- Leases whose deadline has passed: an attempt is gone, the place is kept; the host's clock runs from the deadline.
local function expireLeases(most)
  local due = call("ZREVRANGEBYSCORE", KE, now, "-inf", "LIMIT", 0, most)
  if #due == 0 then return 0 end
  local texts = getMany(KL, due)
  local ids, names = {}, {}
  for at, member in ipairs(due) do
    ids[at] = unpack_(">I6", member)
    if texts[at] then names[#names + 1] = readLease(texts[at]).host end
  end
  readSegments(ids)
  readHosts(names)
  for at, id in ipairs(ids) do
    dropLease(id)
    local bytes = texts[at] and recordOf(id)
    if bytes then
      local lease = readLease(texts[at])
      local record = readRecord(bytes)
      record.deliveries = lease.deliveries
      local host = hostOf(lease.host)
      local rule = ruleOf(record.rule)
      C[LEASED] = C[LEASED] - 1
      C[EXPIRED] = C[EXPIRED] + 1
      countRule(record.rule, 2, -1)
      endVisit(host, rule, lease.deadline)
      local isLast = record.attempts >= maxAttempts(record)
      if isLast or record.deliveries >= C[MAX_DELIVERIES] then
        failRecord(id, bytes, record, isLast and "expired" or "deliveries")
      else
        C[PENDING] = C[PENDING] + 1
        countRule(record.rule, 1, 1)
        setRecord(id, withState(bytes, STATE_PENDING, record.attempts + 1, record.deliveries))
        enqueue(id, bytes, record, host)
      end
    end
  end
  return #due
end

-- Records whose time has come: they get a new place, behind all others.
local function wakeRecords(most)
  local due = call("ZRANGEBYSCORE", KW, "-inf", now, "LIMIT", 0, most)
  if #due == 0 then return 0 end
  call("ZREM", KW, unpack(due))
  local ids = {}
  for at, member in ipairs(due) do ids[at] = unpack_(">I6", member) end
  readSegments(ids)
  for _, id in ipairs(ids) do
    local bytes = recordOf(id)
    if bytes then
      local record = readRecord(bytes)
      if record.state == STATE_RESTING then
        C[DONE] = C[DONE] - 1
        C[RESTING] = C[RESTING] - 1
        record.attempts, record.deliveries = 1, 0
      else
        C[WAITING] = C[WAITING] - 1
      end
      bytes = withState(bytes, STATE_PENDING, record.attempts, record.deliveries)
      local new = renumber(id, bytes, record)
      local host = hostOf(hostOfRecord(record, bytes))
      unplace(host)
      appendIds(queueOf(host, record.rule, record.priority, record.isStart), pack(">I6", new), 1)
      C[PENDING] = C[PENDING] + 1
      countRule(record.rule, 1, 1)
    end
  end
  return #due
end

-- Hosts whose delay is over stand among the ready ones again; those without work are forgotten.
local function wakeHosts(most)
  local due = call("ZRANGEBYSCORE", KD, "-inf", now, "LIMIT", 0, most)
  if #due == 0 then return 0 end
  callMany("ZREM", KD, due)
  local ready, idle = {}, {}
  local isMany = C[RULES] > 1
  for _, member in ipairs(due) do
    if byte(member, 1) == 254 then idle[#idle + 1] = sub(member, 2) else
      ready[#ready + 1] = 0
      ready[#ready + 1] = member
      if isMany then joinedRules[unpack_(">H", member)] = true end
    end
  end
  callMany("ZADD", KR, ready)
  if #idle > 0 then
    readHosts(idle)
    for _, name in ipairs(idle) do
      if hosts[name] then
        local host = hostOf(name)
        host[H_PLACE] = NOWHERE
      end
    end
  end
  return #due
end

-- Whether anything has become due.
local function hasDue()
  for _, key in ipairs({ KD, KW, KE }) do
    if #call("ZRANGEBYSCORE", key, "-inf", now, "LIMIT", 0, 1) > 0 then return true end
  end
  return false
end

-- Does what has become due by itself, a slice of it; how much that was. Its writes come before those of the script.
local function moveClocks()
  local expired = expireLeases(DUE_MAX)
  saveLeases()
  return expired + wakeHosts(DUE_HOSTS_MAX)
end

-- The same with records that waited. Not before a push: one that rests and is due gives way to what is pushed.
local function moveDue()
  return moveClocks() + wakeRecords(DUE_MAX)
end
--- @const DUE_MAX = 64, DUE_HOSTS_MAX = 512

local function saveAll()
  saveLeases()
  saveSeen()
  saveSegments()
  saveHosts()
  saveParts()
  saveRuleCounts()
  saveCounters()
end

-- The same for a script that else writes nothing.
local function moveDueNow()
  if not hasDue() then return end
  workWhenFull()
  moveDue()
  saveAll()
end

-- When something changes by itself next; nil: nothing does.
local function nextTime()
  local least
  for _, key in ipairs({ KD, KW, KE }) do
    local first = call("ZRANGE", key, 0, 0, "WITHSCORES")
    local at = tonumber(first[2])
    if first[1] ~= "" and (not least or at < least) then least = at end
  end
  return least
end
