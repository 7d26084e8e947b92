--- @include lib-state lib-seen lib-record lib-host lib-lease lib-admit
-- Ends leases, each in one step with what its page has led to.
--
-- ARGV     1 now, or "" · 2 batch · 3 version of the rules · 4 ends, msgpack · 5 rows of children of this partition, msgpack, or ""
--          6 parcels for the outbox, msgpack { { partition, stream 8 and number 6, rows of children, msgpack }, … }, or "" · 7 channel to wake sleepers, or ""
--          8 most bytes of a batch of children · 9 the end of each group of children
--
--   end      number 6, token 8 as one text: done · or { kind, number 6, token 8, outcome or nil, … }: 1 done · 2 retry, delay or nil, priority or nil, reason, chance, next rule
--            and body where its rule is gone · 3 fail, reason
--            4 release, next rule and body · 5 extend, milliseconds · 6 match again: rule, body · 7 check: nothing but whether it is live
--   outcome  { status, latency, retry after, bytes, address, changed, visited }: map of those that are given
-- Returns  { "S", an answer each: "d" "q" "f" "r" "e" "m" "c" "n" (live without identity) or "l" late, codes of children, 1 for each parcel, 0: none of its pages is done }
--          { "V", version }: the rules have changed, match the children again
local doneBefore = answerOf(ARGV[2])
if doneBefore then return cmsgpack.unpack(doneBefore) end
local ends = cmsgpack.unpack(ARGV[4])
local hasChildren = ARGV[5] ~= "" or ARGV[6] ~= ""
if hasChildren and tonumber(ARGV[3]) ~= C[VERSION] then return { "V", C[VERSION] } end

if hasChildren then refuseWhenFull() else workWhenFull() end
moveDue()

local members, tokens = {}, {}
for at = 1, #ends do
  local one = ends[at]
  if type(one) == "string" then members[at], tokens[at] = sub(one, 1, 6), sub(one, 7) else members[at], tokens[at] = one[2], one[3] end
end
-- Texts of leases that are live, and of each its host and the bucket of its record's identity.
local texts = getMany(KL, members)
local live, bucketOf = {}, {}
do
  local ids, names, fields = {}, {}, {}
  for at = 1, #ends do
    local text = texts[at]
    if text and sub(text, 1, 8) == tokens[at] and now < unpack_(">d", text, 9) then
      local attempts, number, depth, prefix, family, marks = unpack_(">BHHc6HB", text, 49)
      live[at] = sub(text, HOST_AT)
      names[#names + 1] = live[at]
      if marks % 2 == 0 and (attempts > 1 or depth >= 255) then
        local field = bucketField(familyOf(family), prefix)
        bucketOf[at] = field
        fields[#fields + 1] = field
      end
      local one = ends[at]
      if type(one) ~= "string" and one[1] ~= 1 or ruleOf(number).every then ids[#ids + 1] = unpack_(">I6", members[at]) end
    end
  end
  readHosts(names)
  readRecords(ids)
  readBuckets(fields)
end
--- @const HOST_AT = 63

local answers = {}
do
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
    bytes = underRule(record, one[4], one[5])
    setRecord(id, bytes)
    C[PENDING] = C[PENDING] + 1
    countRule(record.rule, 1, 1)
    enqueue(id, bytes, record, host)
    wokeSomething = true
    return "m"
  end

  local seenTwice, extended = {}, {}

  -- The end of a visit to a plain host: its text thereafter, and what it brings into the sets; false: it must be parsed.
  local function endPlain(name, text, number, rule, bytes)
    local turn, leased, flags, place, _, block = unpack_(">I7I3BBdd", text, 5)
    if flags % 4 ~= 0 or leased ~= 1 or place ~= NOWHERE then return false end
    local readyAt, count = now + (rule.delay or 0), byte(text, 41)
    if count > 0 then
      local high, low = byte(text, 42, 43)
      if count > 1 or high * 256 + low ~= number then return false end
      local member = politeMember(text, name, turn)
      local at = readyAt > block and readyAt or block
      if at > now then addDelayed[member], place = at, IN_DELAYED else
        addReady[member], place = true, IN_READY
        if C[RULES] > 1 then joinedRules[number] = true end
      end
    end
    text = sub(text, 1, 11) .. pack(">I3BBd", 0, flags, place, readyAt) .. sub(text, 25)
    if bytes > 0 then text = sub(text, 1, 32) .. pack(">d", unpack_(">d", text, 33) + bytes) .. sub(text, 41) end
    editHost(name, text)
    return true
  end

  -- A page of a plain host that is done, and whose outcome changes at most how many bytes the host has sent: false where it takes the
  -- longer way. Failures in a row are settings, which a plain host does not have.
  local doneCounts = {}
  local function doneShort(at, outcome)
    if outcome and (isBadStatus(outcome.status) or outcome.retryAfter or outcome.address) then return false end
    local name, member = live[at], members[at]
    local text = hosts[name] == nil and hostTexts[name]
    if not text then return false end
    local attempts, number, depth, prefix, _, marks = unpack_(">BHHc6HB", texts[at], 49)
    local rule = ruleOf(number)
    if rule.polite ~= 1 or rule.every or rule.adaptMax then return false end
    if not endPlain(name, text, number, rule, outcome and outcome.bytes or 0) then return false end
    seenTwice[member] = true
    dropLease(member, tokens[at], marks)
    recordDrops[#recordDrops + 1] = member
    records[unpack_(">I6", member)] = false
    local field = bucketOf[at]
    local from = field and entryOf(buckets[field], prefix, member)
    if from then setWord(field, from, goneWord(GONE_DONE, depth, attempts)) end
    if marks % 2 == 1 then C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1 end
    doneCounts[number] = (doneCounts[number] or 0) + 1
    return true
  end

  for at = 1, #ends do
    local one = ends[at]
    local isShort = type(one) == "string"
    local member, kind = members[at], isShort and 1 or one[1]
    if not live[at] or seenTwice[member] then
      answers[at] = "l"
      C[LATE] = C[LATE] + 1
    elseif kind == 1 and not extended[member] and doneShort(at, not isShort and one[4] or nil) then answers[at] = "d"
    else
      local lease, id = readLease(extended[member] or texts[at]), unpack_(">I6", member)
      if kind == 7 then
        answers[at] = lease[L_MARKS] % 2 == 1 and "n" or "c"
      elseif kind == 5 then
        if lease[L_MARKS] < EXTENDED then
          leaveBatch(lease[L_TOKEN])
          lease[L_MARKS] = lease[L_MARKS] + EXTENDED
        end
        lease[L_DEADLINE] = lease[L_DEADLINE] + one[5]
        extended[member] = pack(LEASE, unpack(lease, 1, L_MARKS)) .. lease[L_HOST]
        call("HSET", KL, member, extended[member])
        call("ZADD", KE, lease[L_DEADLINE], member)
        answers[at] = "e"
      else
        seenTwice[member] = true
        -- A page that is done needs no more of its record than its lease has.
        local bytes = kind ~= 1 and recordOf(id)
        local record = bytes and readRecord(bytes) or recordOfLease(lease)
        record.deliveries = lease[L_DELIVERIES]
        local rule = ruleOf(record.rule)
        local host = hostOf(lease[L_HOST])
        local outcome = not isShort and one[4] or nil
        dropLease(member, lease[L_TOKEN], lease[L_MARKS])
        C[LEASED] = C[LEASED] - 1
        countRule(record.rule, 2, -1)
        if kind == 4 then answers[at] = releaseNow(id, bytes, record, host, lease, one)
        elseif kind == 6 then answers[at] = matchAgain(id, bytes, record, host, lease, one)
        elseif kind == 3 and outcome and outcome.visited == false then
          answers[at] = failNow(id, bytes, record, one[5] or "failed", outcome.status)
          cancelVisit(host, lease)
        else
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
    -- Its host may go again at a time that sleepers do not know.
    wokeSomething = wokeSomething or seenTwice[member]
  end
  for number, count in pairs(doneCounts) do
    C[LEASED], C[DONE] = C[LEASED] - count, C[DONE] + count
    countRule(number, 2, -count)
    countRule(number, 3, count)
  end
end
-- The first write takes something away, so that a server whose memory is full carries out ends without children.
saveLeases()

local function isKept(finish) return answers[finish] == "d" end

-- Of a parcel the rows whose pages are finished; nil: there are none.
local function keptRows(text)
  local rows = cmsgpack.unpack(text)
  local terms = rows[2]
  local places, prints, kept = {}, {}, {}
  for at = 1, #rows[3] / 4 do
    local place = sub(rows[3], 4 * at - 3, 4 * at)
    if isKept(terms[unpack_(">H", place, 3)][6]) then
      places[#places + 1] = place
      prints[#prints + 1] = sub(rows[4], 16 * at - 15, 16 * at)
      kept[#kept + 1] = rows[5][at]
    end
  end
  return #kept > 0 and cmsgpack.pack({ rows[1], terms, concat(places), concat(prints), kept }) or nil
end

local codes = ""
if ARGV[5] ~= "" then codes = admit(cmsgpack.unpack(ARGV[5]), 0, isKept) end
local kept = {}
if ARGV[6] ~= "" then
  local isAll = not find(concat(answers), "[^d]")
  for at, parcel in ipairs(cmsgpack.unpack(ARGV[6])) do
    local rows = isAll and parcel[3] or keptRows(parcel[3])
    kept[at] = rows and 1 or 0
    if rows then
      call("HSET", KO, pack(">H", parcel[1]) .. parcel[2], rows)
      C[SENT] = C[SENT] + 1
    end
  end
end
local answer = { "S", concat(answers), codes, kept }
keepAnswer(ARGV[2], cmsgpack.pack(answer))
if wokeSomething then wake(ARGV[7]) end
saveAll()
return answer
