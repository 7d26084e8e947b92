-- Leases and what ends them.
--
--   lease   fencing token 8 [· marks 1: 1 nameless since, 2 extended · deadline 8 · clock], by the record's number
--   batch   leases that were handed out together have one token, and one entry among the deadlines, which is named by it: the field of
--           the token has number 6 and clock of each, that of `n` and the token how many are left 4 and their deadline 8. An extended lease
--           has an entry of its own
--   clock   the host's before the hand-out: turn 7, ready at 8; and as that set it: turn 7, ready at 8, −1: the rule keeps no clock
--
-- A result whose token is not that of the lease, or that comes at or after the deadline, is late and changes nothing.
--- @const CLOCK = ">I7dI7d", CLOCKED = 36, EXTENDED = 2
--- @const L_TOKEN = 1, L_MARKS = 2, L_DEADLINE = 3, L_TURNBEFORE = 4, L_READYBEFORE = 5, L_TURNSET = 6, L_READYSET = 7

-- What was handed out together, by its token.
local batches = {}
local function batchOf(token)
  local batch = batches[token]
  if not batch then
    local head = call("HGET", KL, "n" .. token)
    batch = { left = 0, ended = 0, deadline = 0 }
    if head then batch.left, batch.deadline = unpack_(">I4d", head) end
    batches[token] = batch
  end
  return batch
end

local function deadlineOf(text) return #text > 8 and unpack_(">d", text, 10) or batchOf(sub(text, 1, 8)).deadline end

local function readLease(member, text)
  local token = sub(text, 1, 8)
  if #text > 8 then return { token, unpack_(">BdI7dI7d", text, 9) } end
  local batch = batchOf(token)
  batch.list = batch.list or call("HGET", KL, token) or ""
  local from = find(batch.list, member, 1, true)
  for _ = 1, #batch.list do
    if not from or from % CLOCKED == 1 then break end
    from = find(batch.list, member, from + 1, true)
  end
  return { token, 0, batch.deadline, unpack_(CLOCK, batch.list, from + 6) }
end

local function packLease(lease) return lease[L_TOKEN] .. pack(">BdI7dI7d", unpack(lease, L_MARKS, L_READYSET)) end

local leaseDrops, deadlineDrops = {}, {}
local function dropLease(member, token, marks)
  leaseDrops[#leaseDrops + 1] = member
  if marks >= EXTENDED then deadlineDrops[#deadlineDrops + 1] = member else
    local batch = batchOf(token)
    batch.ended = batch.ended + 1
  end
end

local function saveLeases()
  callMany("HDEL", KL, leaseDrops)
  callMany("ZREM", KE, deadlineDrops)
  for token, batch in pairs(batches) do
    if batch.ended > 0 then
      local field, left = "n" .. token, batch.left - batch.ended
      batch.left, batch.ended = left, 0
      if left > 0 then call("HSET", KL, field, pack(">I4d", left, batch.deadline)) else
        call("HDEL", KL, token, field)
        call("ZREM", KE, token)
      end
    end
  end
  leaseDrops, deadlineDrops = {}, {}
end

local function blockHost(host, untilMs)
  if untilMs <= host[H_BLOCK] then return end
  host[H_BLOCK] = untilMs
  host[H_STEERED] = true
end

-- What a visit showed of its host.
local function takeOutcome(host, rule, outcome)
  if rule.adaptMax and outcome.latency then
    settingsOf(host).adaptive = math.min(math.max(rule.adaptFactor * outcome.latency, rule.adaptMin), rule.adaptMax)
  end
  if outcome.bytes and outcome.bytes > 0 then host[H_BYTES] = host[H_BYTES] + outcome.bytes end
  if outcome.retryAfter then blockHost(host, now + outcome.retryAfter) end
  if outcome.address then settingsOf(host).address = keptAddress(outcome.address) end
end

local function isBadStatus(status) return status ~= nil and (status == 429 or status >= 500) end

-- One visit of a host less: a queue that was full may go (lib-queue.lua).
--- @const FULL_QUEUE = 8700000000000000
local function leaveVisit(host)
  if host[H_LEASED] > 0 then host[H_LEASED] = host[H_LEASED] - 1 end
  if host[H_BLOCK] >= FULL_QUEUE then host[H_BLOCK] = 0 end
end

-- The end of a visit: its host's clock begins again.
local function endVisit(host, rule, at)
  unplace(host)
  leaveVisit(host)
  if isClockKept(host, rule) then host[H_READYAT] = at + delayOf(host, rule) end
end

-- Takes a hand-out back: the host is as if it had not been, unless something else has set its clock or its turn since.
local function cancelVisit(host, lease)
  unplace(host)
  leaveVisit(host)
  if lease[L_READYSET] < 0 then return end
  if host[H_READYAT] == lease[L_READYSET] then host[H_READYAT] = lease[L_READYBEFORE] end
  if host[H_TURN] == lease[L_TURNSET] then host[H_TURN] = lease[L_TURNBEFORE] end
end

-- Counts failures of a host in a row; blocks it after too many of them. True: it has failed so often that all it has left fails.
local function countVisit(host, rule, isFailure)
  if not rule.failAfter then return false end
  if not isFailure and not host[H_SETTINGS] then return false end
  local settings = settingsOf(host)
  settings.failures = isFailure and settings.failures + 1 or 0
  if settings.failures < rule.failAfter then return false end
  local doublings = math.min(settings.failures - rule.failAfter, 40)
  blockHost(host, now + math.min(rule.failMax, rule.failBase * 2 ^ doublings))
  return rule.giveUp ~= nil and settings.failures >= rule.giveUp
end

local function noteFailure(id, bytes, reason, status)
  C[NEXT_FAILURE] = C[NEXT_FAILURE] + 1
  call("HSET", KX, pack(">I6", id), cmsgpack.pack({ reason, now, status or 0, C[NEXT_FAILURE] }))
end

-- The record fails: it is kept until it is requeued or forgotten. Returns the letter of that.
local function failRecord(id, bytes, record, reason, status)
  setRecord(id, withState(bytes, STATE_FAILED, record.attempts, record.deliveries))
  noteFailure(id, bytes, reason, status)
  C[FAILED] = C[FAILED] + 1
  countRule(record.rule, 4, 1)
  return "f"
end

-- The first turn of a host that was never leased, where a rule bounds the share of new hosts of its domain; decided once.
local function decideTurn(host, rule)
  if not rule.freshGap or rule.polite ~= 1 or host[H_DECIDED] or host[H_TURN] > 0 then return end
  unplace(host)
  host[H_DECIDED] = true
  local settings = host[H_SETTINGS]
  local domain = settings and settings.domain or string.match(host[H_NAME], "([^.]*%.[^.:]*):?%d*$") or host[H_NAME]
  if settings then settings.domain = nil end
  -- As many places as the engine has: domains in one place share its turns.
  local field = "\254" .. sub(redis.sha1hex(domain), 1, 4)
  local nextAt = tonumber(call("HGET", KH, field) or "0")
  call("HSET", KH, field, string.format("%.17g", math.max(nextAt, C[TURN]) + rule.freshGap))
  if nextAt <= C[TURN] then return end
  host[H_TURN] = floor(nextAt) * FRACTIONS + 1 + C[FRESH] % (FRACTIONS - 1)
  C[FRESH] = C[FRESH] + 1
end

-- Takes a pending record out of the queue of its host; its number is passed over there.
local function leaveQueue(record, bytes)
  local host = hostOf(ownHost(record, bytes))
  unplace(host)
  local queue = queueOf(host, record.rule, record.priority, record.isStart)
  queue[Q_COUNT] = queue[Q_COUNT] - 1
  if queue[Q_COUNT] <= 0 then dropQueue(host, queue) else C[STALE] = C[STALE] + 1 end
  C[PENDING] = C[PENDING] - 1
end

-- Adds a record's number to the queue of its host, behind all others.
local function appendTo(host, record, id)
  unplace(host)
  decideTurn(host, ruleOf(record.rule))
  appendIds(queueOf(host, record.rule, record.priority, record.isStart), pack(">I6", id), 1)
end

-- The queue of a host's records that wait for their time; it is never polled.
local function waitAt(host, id) insertId(queueOf(host, WAITING_RULE, 0, 0), id) end
local function leaveWaiting(host)
  local queue = queueOf(host, WAITING_RULE, 0, 0)
  queue[Q_COUNT] = queue[Q_COUNT] - 1
  if queue[Q_COUNT] <= 0 then dropQueue(host, queue) end
end

-- Puts a record into the queue of its host, at the place of its number.
local function enqueue(id, bytes, record, host)
  unplace(host)
  decideTurn(host, ruleOf(record.rule))
  insertId(queueOf(host, record.rule, record.priority, record.isStart), id)
end

-- A host that has failed too often: all it has pending or waiting fails, in the order of coming, some a script.
--- @const GIVE_UP_MAX = 64
local givingUp = {}
local function giveUpHost(host)
  unplace(host)
  local ids, left = {}, GIVE_UP_MAX
  for at = #host[H_QUEUES], 1, -1 do
    local queue = host[H_QUEUES][at]
    for _ = 1, left do
      local id = popId(queue, false)
      if not id then break end
      ids[#ids + 1] = id
    end
    left = GIVE_UP_MAX - #ids
    if queue[Q_A] == queue[Q_B] and queue[Q_TAIL] == "" then table.remove(host[H_QUEUES], at) end
  end
  table.sort(ids)
  readRecords(ids)
  for _, id in ipairs(ids) do
    local bytes, member = recordOf(id), pack(">I6", id)
    local record = bytes and readRecord(bytes)
    if record and record.state <= STATE_WAITING and ownHost(record, bytes) == host[H_NAME] and call("HEXISTS", KL, member) == 0 then
      if record.state == STATE_WAITING then
        call("ZREM", KW, member)
        C[WAITING] = C[WAITING] - 1
      else
        C[PENDING] = C[PENDING] - 1
        countRule(record.rule, 1, -1)
      end
      record.attempts = record.attempts - 1 -- the one that was to come
      failRecord(id, bytes, record, "host-gave-up")
    end
  end
  if #host[H_QUEUES] > 0 then givingUp[host[H_NAME]] = true end
end

-- Gives a record a new number, behind all others; its identity follows.
local function renumber(id, bytes, record)
  dropRecord(id)
  addRecord(bytes)
  local new = C[NEXT_ID] - 1
  if not record.isNameless then
    local family = familyOf(record.family)
    local field, at = entryOfRecord(family, record.prefix, id)
    if field then setWord(field, at, liveWord(new, record.depth)) end
  end
  return new
end

-- Marks an identity as finished; one without a record is a page that was done at its first attempt.
local function markGone(id, record, kind, attempts)
  if record.isNameless or kind == GONE_DONE and attempts == 1 and record.depth < 255 then return end
  local family = familyOf(record.family)
  local field, at = entryOfRecord(family, record.prefix, id)
  if field then setWord(field, at, goneWord(kind, record.depth, attempts)) end
end

local function clampPriority(priority)
  if priority > 9007199254740991 then return 9007199254740991 end
  if priority < -9007199254740991 then return -9007199254740991 end
  return priority
end

-- The same bytes with the family of their identity, which they do not have yet.
local function withFamily(bytes, number)
  local flags = byte(bytes, 15)
  local at = flags % 2 >= HAS_PRIORITY and 24 or 16
  return sub(bytes, 1, 14) .. char(flags + HAS_FAMILY) .. sub(bytes, 16, at - 1) .. pack(">H", number) .. sub(bytes, at)
end

local function asNameless(bytes) return sub(bytes, 1, 14) .. char(byte(bytes, 15) + IS_NAMELESS) .. sub(bytes, 16) end

-- In place of a rule's number: none takes it.
--- @const NO_RULE = 65535
-- A record's bytes as its request is written under another rule, with its state, priority, family and hand-outs; the record follows.
local function underRule(record, rule, bytes)
  record.rule = rule
  if record.isNameless and byte(bytes, 15) < IS_NAMELESS then bytes = asNameless(bytes) end
  bytes = withPriority(withState(bytes, record.state, record.attempts, record.deliveries), record.priority)
  return record.family > 0 and withFamily(bytes, record.family) or bytes
end

local function maxAttempts(record)
  if record.max > 0 then return record.max end
  return ruleOf(record.rule).attempts or 3
end

-- A page that is done goes, or rests until it comes again.
local function finishPage(id, record)
  local rule = ruleOf(record.rule)
  C[DONE] = C[DONE] + 1
  countRule(record.rule, 3, 1)
  local bytes = rule.every and not record.isNameless and record.family == 0 and recordOf(id)
  if bytes and not readRecord(bytes).isOnce then
    C[RESTING] = C[RESTING] + 1
    setRecord(id, withState(bytes, STATE_RESTING, record.attempts, record.deliveries))
    call("ZADD", KW, now + rule.every, pack(">I6", id))
    return
  end
  if record.isNameless then C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1 end
  dropRecord(id)
  markGone(id, record, GONE_DONE, record.attempts)
end

-- Leases whose deadline has passed, up to `most`, of the entries that are due.
local function overdueLeases(most)
  local leases = {}
  for _, entry in ipairs(call("ZRANGEBYSCORE", KE, "-inf", nowText, "LIMIT", "0", most)) do
    local isBatch, members = #entry == 8, { entry }
    if isBatch then
      local list = call("HGET", KL, entry) or ""
      for at = 1, #list, CLOCKED do members[(at - 1) / CLOCKED + 1] = sub(list, at, at + 5) end
    end
    for at, text in ipairs(getMany(KL, members)) do
      -- What has ended was handed out again, perhaps, and what was extended has its own entry.
      local isHere = text and #leases < most and (not isBatch or sub(text, 1, 8) == entry and (#text == 8 or byte(text, 9) < EXTENDED))
      if isHere then
        local lease = readLease(members[at], text)
        lease.member = members[at]
        leases[#leases + 1] = lease
      end
    end
    if #leases >= most then break end
  end
  return leases
end

-- An attempt is gone, the place is kept; the host's clock runs from the deadline.
local function expireLeases(most)
  local leases = overdueLeases(most)
  if #leases == 0 then return 0 end
  table.sort(leases, function(a, b)
    if a[L_DEADLINE] ~= b[L_DEADLINE] then return a[L_DEADLINE] < b[L_DEADLINE] end
    return a[L_TURNSET] < b[L_TURNSET]
  end)
  local ids = {}
  for at, lease in ipairs(leases) do
    ids[at] = unpack_(">I6", lease.member)
    dropLease(lease.member, lease[L_TOKEN], lease[L_MARKS])
  end
  readRecords(ids)
  for at, lease in ipairs(leases) do
    local id = ids[at]
    local bytes = recordOf(id)
    if bytes then
      local record = readRecord(bytes)
      record.deliveries = record.deliveries + 1
      local host = hostOf(ownHost(record, bytes))
      local rule = ruleOf(record.rule)
      C[LEASED] = C[LEASED] - 1
      C[EXPIRED] = C[EXPIRED] + 1
      countRule(record.rule, 2, -1)
      endVisit(host, rule, lease[L_DEADLINE])
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
  return #leases
end

-- Records whose time has come: they get a new place, behind all others.
local function wakeRecords(most)
  local due = call("ZRANGEBYSCORE", KW, "-inf", nowText, "LIMIT", "0", most)
  if #due == 0 then return 0 end
  call("ZREM", KW, unpack(due))
  local ids = {}
  for at, member in ipairs(due) do ids[at] = unpack_(">I6", member) end
  readRecords(ids)
  for _, id in ipairs(ids) do
    local bytes = recordOf(id)
    if bytes then
      local record = readRecord(bytes)
      local name = ownHost(record, bytes)
      if record.state == STATE_RESTING then
        C[DONE] = C[DONE] - 1
        C[RESTING] = C[RESTING] - 1
        record.attempts, record.deliveries = 1, 0
        bytes = withAgain(bytes, true)
      else
        C[WAITING] = C[WAITING] - 1
      end
      bytes = withState(bytes, STATE_PENDING, record.attempts, record.deliveries)
      local new = renumber(id, bytes, record)
      local host = hostOf(name)
      if record.state == STATE_WAITING then leaveWaiting(host) end
      appendTo(host, record, new)
      C[PENDING] = C[PENDING] + 1
      countRule(record.rule, 1, 1)
    end
  end
  return #due
end

-- Hosts whose delay is over stand among the ready ones again.
local function wakeHosts(most)
  local due = call("ZRANGEBYSCORE", KD, "-inf", nowText, "LIMIT", "0", most)
  local count = #due
  if count == 0 then return 0 end
  if count < most then call("ZREMRANGEBYSCORE", KD, "-inf", nowText) else callMany("ZREM", KD, due) end
  local ready = {}
  local isMany = C[RULES] > 1
  for at = 1, count do
    ready[2 * at - 1], ready[2 * at] = "0", due[at]
    if isMany then joinedRules[unpack_(">H", due[at])] = true end
  end
  callMany("ZADD", KR, ready)
  return #due
end

-- Goes on with hosts that have given up.
local function sweepGivingUp()
  if C[GIVING_UP] == 0 then return 0 end
  local names = cmsgpack.unpack(call("HGET", KM, "given-up"))
  C[GIVING_UP] = 0
  for at, name in ipairs(names) do
    if at == 1 then giveUpHost(hostOf(name)) else givingUp[name] = true end
  end
  return 1
end

--- @rare
local function saveGivingUp()
  local names = {}
  for name in pairs(givingUp) do names[#names + 1] = name end
  if #names == 0 then return end
  if C[GIVING_UP] > 0 then
    for _, name in ipairs(cmsgpack.unpack(call("HGET", KM, "given-up"))) do names[#names + 1] = name end
  end
  C[GIVING_UP] = #names
  call("HSET", KM, "given-up", cmsgpack.pack(names))
  givingUp = {}
end

-- Whether anything has become due but hosts, which only a poll needs.
local function hasDue()
  if C[GIVING_UP] > 0 then return true end
  return #call("ZRANGEBYSCORE", KE, "-inf", nowText, "LIMIT", "0", "1") > 0 or #call("ZRANGEBYSCORE", KW, "-inf", nowText, "LIMIT", "0", "1") > 0
end

-- Does what has become due by itself, a slice of it; how much that was. Its writes come before those of the script.
--- @rare
local function moveDueOf(most)
  local moved = expireLeases(most)
  saveLeases()
  if moved < most then moved = moved + wakeRecords(most - moved) end
  if moved < most then moved = moved + sweepGivingUp() end
  return moved
end
local function moveDue(most) return hasDue() and moveDueOf(most or DUE_MAX) or 0 end
-- The least is that of a poll, which moves more as it is asked for more leases.
--- @const DUE_MAX = 20, DUE_MIN = 8, DUE_HOSTS_MAX = 256

local function saveAll()
  saveLeases()
  if next(givingUp) then saveGivingUp() end
  if next(families) then saveSeen() end
  saveRecords()
  saveHosts()
  saveParts()
  saveRuleCounts()
  saveCounters()
end

-- The same for a script that else writes nothing.
local function moveDueNow()
  if not hasDue() then return end
  workWhenFull()
  moveDueOf(DUE_MAX)
  saveAll()
end

-- When something changes by itself next; nil: nothing does.
local function nextTime()
  local least
  for _, key in ipairs({ KD, KW, KE }) do
    local first = call("ZRANGE", key, "0", "0", "WITHSCORES")
    local at = tonumber(first[2])
    if first[1] ~= "" and (not least or at < least) then least = at end
  end
  return least
end

-- Adds records to an answer, by their numbers: number 6, token and deadline of the lease, due time, failure, record.
local function showRecords(answer, ids, members)
  local leases, failures = getMany(KL, members), getMany(KX, members)
  local dues = #members > 0 and call("ZMSCORE", KW, unpack(members)) or {}
  for at, id in ipairs(ids) do
    local lease, failure = leases[at] and sub(leases[at], 1, 8) .. pack(">d", deadlineOf(leases[at])) or "", failures[at] or ""
    insert(answer, members[at] .. pack(">H", #lease) .. lease .. pack(">d", tonumber(dues[at] or "0") or 0)
      .. pack(">H", #failure) .. failure .. recordOf(id))
  end
end
