--- @include lib-state lib-seen lib-record lib-host lib-lease lib-admit
-- Ends leases, each in one step with what its page has led to.
--
-- ARGV     1 now, or "" · 2 batch · 3 version of the rules · 4 ends, msgpack · 5 rows of children of this partition, msgpack, or ""
--          6 children of other partitions, msgpack { partition, rows … }, or "" · 7 channel to wake sleepers, or ""
--          8 most bytes of a batch of children · 9 the end of each group of children
--
--   end      { kind, number 6, token 8, outcome or nil, … }: 1 done · 2 retry, delay or nil, priority or nil, reason, chance, next rule
--            and body where its rule is gone · 3 fail, reason
--            4 release, next rule and body · 5 extend, milliseconds · 6 match again: rule, body · 7 check: nothing but whether it is live
--   outcome  { status, latency, retry after, bytes, address, changed, visited }: map of those that are given
-- Returns  { "S", an answer each: "d" "q" "f" "r" "e" "m" "c" "n" (live without identity) or "l" late, codes of children, outbox's numbers }
--          { "V", version }: the rules have changed, match the children again
local doneBefore = answerOf(ARGV[2])
if doneBefore then return cmsgpack.unpack(doneBefore) end
local ends = cmsgpack.unpack(ARGV[4])
local hasChildren = ARGV[5] ~= "" or ARGV[6] ~= ""
if hasChildren and tonumber(ARGV[3]) ~= C[VERSION] then return { "V", C[VERSION] } end

if hasChildren then refuseWhenFull() else workWhenFull() end
moveDue()

local members, ids = {}, {}
for at, one in ipairs(ends) do
  members[at] = one[2]
  ids[at] = unpack_(">I6", one[2])
end
local texts = getMany(KL, members)
local live, names = {}, {}
for at, one in ipairs(ends) do
  local lease = texts[at] and readLease(texts[at])
  if lease and lease.token == one[3] and now < lease.deadline then
    live[at] = lease
    names[#names + 1] = lease.host
  end
end
readHosts(names)
do
  local fields, finished, others = {}, {}, {}
  for at, lease in pairs(live) do
    if not lease.isNameless then fields[#fields + 1] = bucketField(familyOf(lease.family), lease.prefix) end
    local list = ends[at][1] == 1 and not ruleOf(lease.rule).every and finished or others
    list[#list + 1] = ids[at]
  end
  readMasks(finished)
  readSegments(others)
  readBuckets(fields)
end

local function failNow(id, bytes, record, reason, status)
  failRecord(id, bytes, record, reason, status)
  return "f"
end

-- A record that goes on while its rule is gone: its bytes under the next one; true: none takes it, and it has failed.
local function underNext(id, bytes, record, next)
  if type(next) ~= "table" then return bytes, false end
  if next[1] == NO_RULE then
    record.rule, record.attempts = NO_RULE, record.attempts - 1
    failRecord(id, withRule(bytes, NO_RULE), record, "no-rule")
    return bytes, true
  end
  return underRule(record, next[1], next[2]), false
end

local function retryNow(id, bytes, record, host, one)
  local rule = ruleOf(record.rule)
  local outcome = one[4] or {}
  if record.attempts >= maxAttempts(record) then return failNow(id, bytes, record, one[7] or "attempts", outcome.status) end
  if record.deliveries >= C[MAX_DELIVERIES] then return failNow(id, bytes, record, "deliveries", outcome.status) end
  local delay = one[5]
  if not delay then
    delay = 0
    if rule.backoffBase and rule.backoffBase > 0 then
      delay = math.min(rule.backoffMax, rule.backoffBase * rule.backoffFactor ^ math.min(record.attempts - 1, 64))
      if rule.jitter and rule.jitter > 0 then delay = math.min(rule.backoffMax, delay * (1 + rule.jitter * one[8])) end
    end
  end
  local priority = one[6]
  if not priority then
    if rule.retrySet then priority = rule.retrySet else priority = record.priority + (rule.retryAdd or -1) end
  end
  record.priority = clampPriority(priority)
  record.attempts = record.attempts + 1
  C[RETRIED] = C[RETRIED] + 1
  local isLater = delay > 0
  record.state = isLater and STATE_WAITING or STATE_PENDING
  local gone
  bytes, gone = underNext(id, bytes, record, one[9])
  if gone then return "f" end
  bytes = withPriority(withState(bytes, isLater and STATE_WAITING or STATE_PENDING, record.attempts, record.deliveries),
    record.priority)
  local new = renumber(id, bytes, record)
  if isLater then
    C[WAITING] = C[WAITING] + 1
    call("ZADD", KW, now + delay, pack(">I6", new))
    waitAt(host, new)
  else
    C[PENDING] = C[PENDING] + 1
    countRule(record.rule, 1, 1)
    appendTo(host, record, new)
  end
  wokeSomething = true
  return "q", new
end

local function releaseNow(id, bytes, record, host, lease, one)
  if record.deliveries >= C[MAX_DELIVERIES] then
    record.attempts = record.attempts - 1
    failRecord(id, bytes, record, "deliveries")
    cancelVisit(host, lease)
    return "r"
  end
  record.state = STATE_PENDING
  local gone
  bytes, gone = underNext(id, bytes, record, one[5])
  if gone then
    cancelVisit(host, lease)
    return "r"
  end
  C[PENDING] = C[PENDING] + 1
  countRule(record.rule, 1, 1)
  setRecord(id, withState(bytes, STATE_PENDING, record.attempts, record.deliveries))
  enqueue(id, bytes, record, host)
  cancelVisit(host, lease)
  wokeSomething = true
  return "r"
end

-- The record goes on under another rule; rule 65535: none takes it.
local function matchAgain(id, bytes, record, host, lease, one)
  cancelVisit(host, lease)
  record.deliveries = record.deliveries - 1
  if one[4] == NO_RULE then
    record.rule, record.attempts = NO_RULE, record.attempts - 1
    return failNow(id, withRule(bytes, NO_RULE), record, "no-rule")
  end
  record.state = STATE_PENDING
  bytes = underRule(record, one[4], one[6])
  setRecord(id, bytes)
  C[PENDING] = C[PENDING] + 1
  countRule(record.rule, 1, 1)
  enqueue(id, bytes, record, host)
  wokeSomething = true
  return "m"
end

local answers = {}
local seenTwice = {}
for at, one in ipairs(ends) do
  local lease, kind, id = live[at], one[1], ids[at]
  if not lease or seenTwice[id] then
    answers[at] = "l"
    C[LATE] = C[LATE] + 1
  elseif kind == 7 then
    answers[at] = lease.isNameless and "n" or "c"
  elseif kind == 5 then
    lease.deadline = lease.deadline + one[5]
    call("HSET", KL, one[2], pack(LEASE, lease.token, lease.deadline, lease.readyBefore, lease.readySet, lease.turnBefore, lease.turnSet, lease.deliveries,
      lease.attempts, lease.rule, lease.depth, lease.prefix, lease.family, lease.isNameless and 1 or 0) .. lease.host)
    call("ZADD", KE, lease.deadline, one[2])
    answers[at] = "e"
  else
    seenTwice[id] = true
    -- A page that is done needs no more of its record than its lease has.
    local bytes = kind ~= 1 and recordOf(id)
    local record = bytes and readRecord(bytes) or lease
    record.deliveries = lease.deliveries
    local rule = ruleOf(record.rule)
    local host = hostOf(lease.host)
    local outcome = one[4]
    dropLease(id)
    C[LEASED] = C[LEASED] - 1
    countRule(record.rule, 2, -1)
    if kind == 4 then answers[at] = releaseNow(id, bytes, record, host, lease, one)
    elseif kind == 6 then answers[at] = matchAgain(id, bytes, record, host, lease, one)
    elseif kind == 3 and outcome and outcome.visited == false then
      answers[at] = failNow(id, bytes, record, one[5] or "failed", outcome.status)
      cancelVisit(host, lease)
    else
      wokeSomething = true -- its host may go again at a time that sleepers do not know
      if outcome then takeOutcome(host, rule, outcome) end
      endVisit(host, rule, now)
      local isFailure = true
      local goneOn
      if kind == 1 then
        finish(id, record)
        answers[at] = "d"
        isFailure = outcome ~= nil and isBadStatus(outcome.status)
      elseif kind == 2 then answers[at], goneOn = retryNow(id, bytes, record, host, one)
      else
        answers[at] = failNow(id, bytes, record, one[5] or "failed", outcome and outcome.status)
        isFailure = not (outcome and outcome.status and outcome.status >= 100 and not isBadStatus(outcome.status))
      end
      if countVisit(host, rule, isFailure) then
        giveUpHost(host)
        local left = goneOn and recordOf(goneOn)
        if left and byte(left) == STATE_FAILED then answers[at] = "f" end
      end
    end
  end
end
-- The first write takes something away, so that a server whose memory is full carries out ends without children.
saveLeases()

local function isKept(group) return answers[group[7]] == "d" end

-- The rows whose pages are finished, and nothing of others.
local function keptRows(rows)
  local groups, all = rows[1], true
  for _, group in ipairs(groups) do all = all and isKept(group) end
  if all then return rows end
  local places, prints, bodies = {}, {}, {}
  for at = 1, #rows[2] / 2 do
    local place = sub(rows[2], 2 * at - 1, 2 * at)
    if isKept(groups[unpack_(">H", place)]) then
      places[#places + 1] = place
      prints[#prints + 1] = sub(rows[3], 16 * at - 15, 16 * at)
      bodies[#bodies + 1] = rows[4][at]
    end
  end
  return { groups, concat(places), concat(prints), bodies }
end

local codes = ""
if ARGV[5] ~= "" then codes = admit(cmsgpack.unpack(ARGV[5]), 0, isKept) end
local numbers = {}
if ARGV[6] ~= "" then
  for _, parcel in ipairs(cmsgpack.unpack(ARGV[6])) do
    local kept = keptRows(parcel[2])
    if #kept[4] > 0 then
      local target = pack(">H", parcel[1])
      local number = call("HINCRBY", KM, "o" .. target, 1)
      call("HSET", KO, target .. pack(">I6", number), cmsgpack.pack(kept))
      C[SENT] = C[SENT] + 1
      insert(numbers, parcel[1])
      insert(numbers, number)
    end
  end
end
local answer = { "S", concat(answers), codes, numbers }
keepAnswer(ARGV[2], cmsgpack.pack(answer))
if wokeSomething then wake(ARGV[7]) end
saveAll()
return answer
