--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit
-- Ends leases, each in one step with what its page has led to.
--
-- ARGV     1 now, or "" · 2 batch · 3 version of the rules · 4 ends, msgpack · 5 rows of children of this partition, msgpack, or ""
--          6 parcels for the outbox, msgpack { { partition, stream 8 and number 6, rows of children, msgpack }, … }, or "" · 7 channel to wake sleepers, or ""
--          8 most bytes of a batch of children · 9 the end of each group of children
--
--   ends     { names of hosts, tokens, of each end: number 6, host 2, token 2, rule 2, what is more of each or false: nothing of any }
--   more     false: done · or { kind, outcome or nil, … }: 1 done, true: at a later attempt, of a deep page, or without identity
--            2 retry, delay or nil, priority or nil, reason, chance, next rule and body where its rule is gone · 3 fail, reason
--            4 release, next rule and body · 5 extend, milliseconds · 6 match again: rule, body · 7 check: nothing but whether it is live
--   outcome  { status, latency, retry after, bytes, address, changed, visited }: map of those that are given
-- Returns  { "S", an answer each: "d" "q" "f" "r" "e" "m" "c" "n" (live without identity) or "l" late, codes of children, 1 for each parcel, 0: none of its pages is done, microseconds }
--          { "V", version }: the rules have changed, match the children again; what names no rule is carried out under any version
do
  local doneBefore = answerOf(ARGV[2])
  if doneBefore then return cmsgpack.unpack(doneBefore) end
end
local ends = cmsgpack.unpack(ARGV[4])
local hasChildren = ARGV[5] ~= "" or ARGV[6] ~= ""
local namesRules = hasChildren
for _, one in ipairs(ends[4] or {}) do
  namesRules = namesRules or one and (one[1] == 6 or type(one[one[1] == 2 and 7 or 3]) == "table")
end
if namesRules and tonumber(ARGV[3]) ~= C[VERSION] then return { "V", C[VERSION] } end

if hasChildren then refuseWhenFull() else workWhenFull() end
moveDue()

local answers, seenTwice, extended = {}, {}, {}

-- Makes what ends a lease in any way: an answer by the lease's number, its text, its host's name, and what is more of its end.
--- @rare
local function longEnds()
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
    local outcome = one[2] or {}
    if record.attempts >= maxAttempts(record) then return failRecord(id, bytes, record, one[5] or "attempts", outcome.status) end
    if record.deliveries >= C[MAX_DELIVERIES] then return failRecord(id, bytes, record, "deliveries", outcome.status) end
    local delay = one[3]
    if not delay then
      delay = 0
      if rule.backoffBase and rule.backoffBase > 0 then
        delay = math.min(rule.backoffMax, rule.backoffBase * rule.backoffFactor ^ math.min(record.attempts - 1, 64))
        if rule.jitter and rule.jitter > 0 then delay = math.min(rule.backoffMax, delay * (1 + rule.jitter * one[6])) end
      end
    end
    local priority = one[4]
    if not priority then
      if rule.retrySet then priority = rule.retrySet else priority = record.priority + (rule.retryAdd or -1) end
    end
    record.priority = clampPriority(priority)
    record.attempts = record.attempts + 1
    C[RETRIED] = C[RETRIED] + 1
    local isLater = delay > 0
    record.state = isLater and STATE_WAITING or STATE_PENDING
    local gone
    bytes, gone = underNext(id, bytes, record, one[7])
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
    bytes, gone = underNext(id, bytes, record, one[3])
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
    if one[2] == NO_RULE then
      record.rule, record.attempts = NO_RULE, record.attempts - 1
      return failRecord(id, withRule(bytes, NO_RULE), record, "no-rule")
    end
    record.state = STATE_PENDING
    bytes = underRule(record, one[2], one[3])
    setRecord(id, bytes)
    C[PENDING] = C[PENDING] + 1
    countRule(record.rule, 1, 1)
    enqueue(id, bytes, record, host)
    wokeSomething = true
    return "m"
  end

  return function(member, text, name, one)
    local kind, outcome = one and one[1] or 1, one and one[2] or nil
    local lease, id = readLease(member, text), unpack_(">I6", member)
    if kind == 7 then return byte(recordOf(id), 15) >= IS_NAMELESS and "n" or "c" end
    if kind == 5 then
      if lease[L_MARKS] < EXTENDED then
        local batch = batchOf(lease[L_TOKEN])
        batch.ended, lease[L_MARKS] = batch.ended + 1, lease[L_MARKS] + EXTENDED
      end
      lease[L_DEADLINE] = lease[L_DEADLINE] + one[3]
      extended[member] = packLease(lease)
      call("HSET", KL, member, extended[member])
      call("ZADD", KE, lease[L_DEADLINE], member)
      return "e"
    end
    seenTwice[member] = true
    local bytes = recordOf(id)
    local record = readRecord(bytes)
    record.deliveries = record.deliveries + 1
    local rule, host = ruleOf(record.rule), hostOf(name)
    dropLease(member, lease[L_TOKEN], lease[L_MARKS])
    C[LEASED] = C[LEASED] - 1
    countRule(record.rule, 2, -1)
    if kind == 4 then return releaseNow(id, bytes, record, host, lease, one) end
    if kind == 6 then return matchAgain(id, bytes, record, host, lease, one) end
    if kind == 3 and outcome and outcome.visited == false then
      local answer = failRecord(id, bytes, record, one[3] or "failed", outcome.status)
      cancelVisit(host, lease)
      return answer
    end
    if outcome then takeOutcome(host, rule, outcome) end
    endVisit(host, rule, now)
    local isFailure, answer, goneOn = true, "d", nil
    if kind == 1 then
      finishPage(id, record)
      isFailure = outcome ~= nil and isBadStatus(outcome.status)
    elseif kind == 2 then answer, goneOn = retryNow(id, bytes, record, host, one)
    else
      answer = failRecord(id, bytes, record, one[3] or "failed", outcome and outcome.status)
      isFailure = not (outcome and outcome.status and outcome.status >= 100 and not isBadStatus(outcome.status))
    end
    if countVisit(host, rule, isFailure) then
      giveUpHost(host)
      local left = goneOn and recordOf(goneOn)
      if left and byte(left) % 8 == STATE_FAILED then return "f" end
    end
    return answer
  end
end

do
  local more, members = ends[4] or {}, {}
  for at = 1, #ends[3] / 12 do members[at] = sub(ends[3], 12 * at - 11, 12 * at - 6) end
  -- Texts of leases, the hosts of those that are live, their rules; and the rule again where a plain host may end them without more.
  local texts = getMany(KL, members)
  local live, numbers, isShort = {}, {}, {}
  do
    local names, tokens, columns, ids, isOpen = ends[1], ends[2], ends[3], {}, {}
    readHosts(names)
    -- Leases that were handed out together have one deadline.
    for at = 1, #tokens do isOpen[tokens[at]] = now < batchOf(tokens[at]).deadline end
    for at = 1, #members do
      local a, b, c, d, e, f = byte(columns, 12 * at - 5, 12 * at)
      local token, text = tokens[c * 256 + d], texts[at]
      if text and (text == token and isOpen[token] or text ~= token and sub(text, 1, 8) == token and now < deadlineOf(text)) then
        local number, one = e * 256 + f, more[at]
        local rule, outcome = ruleCache[number] or ruleOf(number), one and one[2]
        live[at], numbers[at] = names[a * 256 + b], number
        -- Failures in a row are settings, which a plain host does not have.
        isShort[at] = text == token and (not one or one[1] == 1 and not one[3]) and rule.polite == 1 and not rule.every and not rule.adaptMax
          and not (outcome and (isBadStatus(outcome.status) or outcome.retryAfter or outcome.address)) and rule
        if not isShort[at] then ids[#ids + 1] = unpack_(">I6", members[at]) end
      end
    end
    readRecords(ids)
  end

--- @const NO_TURN = "\0\0\0\0\0\0\0"
  -- Clocks of hosts after their visits, by rule, flags and place: most are the same.
  local clocks = {}
  -- The end of a visit to a plain host: its text thereafter, and what it brings into the sets; false: it must be parsed.
  local function endPlain(name, text, number, rule, bytes)
    local readyAt = now + (rule.delay or 0)
    if byte(text, 21) == 1 then
      local a, b, leased, flags, place = byte(text, 63, 67)
      local head, turn = politeHead(sub(text, 22, 32)), sub(text, 48, 54)
      if flags % 4 ~= 0 or a + b > 0 or leased ~= 1 or place ~= NOWHERE or head[2] ~= number or turn == NO_TURN then return false end
      -- A block of 0 begins with a byte 0.
      local block = byte(text, 5) > 0 and unpack_(">d", text, 5) or 0
      local member, at = head[1] .. "\1" .. turn .. name, readyAt > block and readyAt or block
      if at > now then addDelayed[member], place = at, IN_DELAYED else
        addReady[member], place = true, IN_READY
        if C[RULES] > 1 then joinedRules[number] = true end
      end
      local key = number * 1024 + flags * 4 + place
      local clock = clocks[key]
      if not clock then
        clock = pack(">dI3BB", readyAt, 0, flags, place)
        clocks[key] = clock
      end
      text = sub(text, 1, 54) .. clock .. sub(text, 68)
    else
      if byte(text, 21) > 1 then return false end
      local _, _, leased, flags, place = unpack_(TURNS, text, 22)
      if flags % 4 ~= 0 or leased ~= 1 or place ~= NOWHERE then return false end
      text = pack(">c28dI3BBc0", text, readyAt, 0, flags, place, sub(text, 42))
    end
    if bytes > 0 then text = sub(text, 1, 12) .. pack(">d", unpack_(">d", text, 13) + bytes) .. sub(text, 21) end
    editHost(name, text)
    return true
  end

  -- A page of a plain host that is done, and whose outcome changes at most how many bytes the host has sent: false where it takes the
  -- longer way.
  local doneCounts, shorts, shortCount, endLong = {}, {}, 0, nil
  local function doneShort(at, outcome)
    local name, member, number = live[at], members[at], numbers[at]
    local text = hosts[name] == nil and hostTexts[name]
    if not text or not endPlain(name, text, number, isShort[at], outcome and outcome.bytes or 0) then return false end
    seenTwice[member] = true
    shortCount = shortCount + 1
    shorts[shortCount] = member
    local batch = batchOf(texts[at])
    batch.ended = batch.ended + 1
    if hasChildren then records[unpack_(">I6", member)] = false end
    doneCounts[number] = (doneCounts[number] or 0) + 1
    return true
  end

  for at = 1, #members do
    local one, member = more[at], members[at]
    if not live[at] or seenTwice[member] then
      answers[at] = "l"
      C[LATE] = C[LATE] + 1
    elseif isShort[at] and not extended[member] and doneShort(at, one and one[2] or nil) then answers[at] = "d"
    else
      endLong = endLong or longEnds()
      answers[at] = endLong(member, extended[member] or texts[at], live[at], one)
    end
  end
  -- Hosts may go again earlier than waiting processes expect.
  if next(seenTwice) then wokeSomething = true end
  -- The first write takes something away, so that a server whose memory is full carries out ends without children.
  callMany("HDEL", KL, shorts)
  callMany("HDEL", KC, shorts)
  for number, count in pairs(doneCounts) do
    C[LEASED], C[DONE] = C[LEASED] - count, C[DONE] + count
    countRule(number, 2, -count)
    countRule(number, 3, count)
  end
end
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
if ARGV[5] ~= "" then codes = admit(cmsgpack.unpack(ARGV[5]), math.huge, isKept) end
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
answer[5] = spent()
return answer
