--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-queue
-- Hands out leases in order: rule by share, priority, host in turn, first or last in.
--
-- ARGV     1 now, or "" · 2 batch · 3 most leases · 4 milliseconds that they last · 5 fencing token, 8 random bytes
--          6 most leases out at once, 0: no limit · 7 "peek": nothing is handed out, only shown; what became due is moved all the same;
--          "host": those of the host in 8 alone; "queues": as 8 asks (lib-queue.lua), msgpack
-- Returns  { "L", next time or "", version, { generation, 1: paused, microseconds, counters where there is no lease }, now, deadline, number 6 and clock (lib-lease.lua) of each lease, its
--          record before its hand-out … }
local most, lasts, token = math.min(tonumber(ARGV[3]), LEASES_MAX), tonumber(ARGV[4]), ARGV[5]
local limit = tonumber(ARGV[6])
--- @const MORE = 64, LEASES_MAX = 1024

local deadline = now + lasts

local function answerHead(next, at)
  return { "L", next, C[VERSION], { C[GENERATION], C[PAUSED] > now and 1 or 0, spent() }, nowText, string.format("%.17g", at) }
end

-- A batch that is sent twice gets the leases that it has and that are still live; when there is more was in the answer that was lost. What
-- it handed out stands beside its leases until the last of them has ended, or has got a deadline of its own.
--- @rare
local function again()
  local answer, members, list = answerHead(nowText, deadline), call("HGET", KL, token) or "", {}
  for at = 1, #members, CLOCKED do
    local member = sub(members, at, at + 5)
    local text = call("HGET", KL, member)
    if text and sub(text, 1, 8) == token then
      local count = #list + 1
      answer[6] = string.format("%.17g", deadlineOf(text))
      list[count], answer[7 + count] = sub(members, at, at + CLOCKED - 1), recordOf(unpack_(">I6", member))
    end
  end
  answer[7] = concat(list)
  return answer
end

if answerOf(ARGV[2]) then return again() end

workWhenFull()
local changed, woken = sweepTrash() + moveDue(math.min(floor(most / 2) + DUE_MIN, DUE_MAX)), wakeHosts(DUE_HOSTS_MAX)
-- Work of one call, counted in leases: a record that became due, or whose lease has expired, is as much as four, and leaves less room.
--- @const WORK_MAX = 120, LEASES_MIN = 32
local room = math.max(WORK_MAX - 4 * changed - floor(woken / 8), LEASES_MIN)
changed = changed + woken
placeHosts()

-- From here on a peek writes nothing.
local isPeek = ARGV[7] == "peek"
if isPeek then
  saveAll()
  local reads = { HGET = true, HMGET = true, HEXISTS = true, ZRANGE = true, ZRANGEBYLEX = true, ZSCORE = true, TIME = true }
  call = function(command, ...)
    if reads[command] then return redis.call(command, ...) end
    return 0
  end
end

-- Records of what is handed out; its numbers and tokens; its numbers and clocks; its numbers where some are stale.
local leases, sets, clocks, handed, count = {}, {}, {}, {}, 0

local function isStanding(id, queue)
  local bytes = recordOf(id)
  if not bytes then return nil end
  if C[STALE] == 0 then return bytes end
  local record = readRecord(bytes)
  if record.state ~= STATE_PENDING or record.rule ~= queue[Q_RULE] or record.priority ~= queue[Q_PRIORITY] then return nil end
  local member = pack(">I6", id)
  if call("HEXISTS", KL, member) == 1 or handed[member] then return nil end
  return bytes
end

-- Makes the lease of a record that left its queue; the times and the turn are its host's.
local function leaseOut(member, bytes, before, set)
  local two, three = 2 * count, 3 * count
  count = count + 1
  sets[two + 1], sets[two + 2] = member, token
  clocks[three + 1], clocks[three + 2], clocks[three + 3] = member, before, set
  leases[count] = bytes
  if C[STALE] > 0 then handed[member] = true end
end

local function countLeases(number, count)
  countRule(number, 1, -count)
  countRule(number, 2, count)
  countRule(number, 5, count)
end

-- Ready hosts of a rule, in order; `list` is what was read, and hosts that came back since stand in it too.
local lines = {}
local function lineOf(rule)
  local line = lines[rule]
  if not line then
    local terms = ruleOf(rule)
    local isPlain = terms.polite == 1 and (terms.perHost or 1) == 1 and not terms.adaptMax and terms.lifo ~= 1
    line = { rule = rule, list = {}, names = {}, at = 1, last = nil, isWhole = false, later = {}, isPlain = isPlain, run = LEASES_MAX }
    lines[rule] = line
  end
  return line
end

-- Reads what the hosts of a line need that cannot be handed out by their texts alone.
--- @rare
local function readAhead(line)
  line.isAhead = true
  local ids, fields, parsed, isLifo = {}, {}, {}, ruleOf(line.rule).lifo == 1
  for at = line.at, #line.list do
    local name = line.names[at]
    local text = line.isPlain and hosts[name] == nil and hostTexts[name]
    if text and byte(text, 21) == 1 and byte(text, 66) % 4 == 0 then
      if sub(text, 72, 75) ~= sub(text, 38, 41) then fields[#fields + 1] = sub(text, 33, 37) .. sub(text, 72, 75) end
    else
      local host = hostAt(name)
      local top = host and topQueue(host, line.rule)
      if top then
        fields[#fields + 1] = nextPart(top, isLifo and top[Q_START] == 0)
        parsed[#parsed + 1] = top
      end
    end
  end
  readParts(fields)
  local each = ruleOf(line.rule).polite == 1 and 1 or math.ceil(line.count / math.max(#line.names, 1))
  for _, top in ipairs(parsed) do nextIds(top, isLifo and top[Q_START] == 0, each, ids) end
  readRecords(ids)
end

-- Whether a member of a rule stands before another, by their bytes as in the set: Lua compares texts in the order of the server's locale.
-- A host that comes back shares its turn, or its record's number, with no other.
local function isMemberBefore(a, b)
  local a1, a2, a3 = unpack_(">I6I6I5", a, 3)
  local b1, b2, b3 = unpack_(">I6I6I5", b, 3)
  if a1 ~= b1 then return a1 < b1 end
  if a2 ~= b2 then return a2 < b2 end
  return a3 < b3
end

-- Puts a member where it belongs in what was read of the line; false: it stands further behind.
local function joinLine(line, member)
  if not line.last or not line.isWhole and isMemberBefore(line.last, member) then return false end
  local list, low, high = line.list, line.at, #line.list + 1
  for _ = 1, BITS do
    if low >= high then break end
    local middle = floor((low + high) / 2)
    if isMemberBefore(list[middle], member) then low = middle + 1 else high = middle end
  end
  insert(list, low, member)
  insert(line.names, low, sub(member, NAME_AT))
  return true
end

--- @rare
local function joinLater(line)
  local later = line.later
  line.later, line.last = {}, line.last or pack(">H", line.rule)
  for _, member in ipairs(later) do
    if not joinLine(line, member) then line.later[#line.later + 1] = member end
  end
end

local function readLine(line, count)
  placeHosts()
  local prefix = pack(">H", line.rule)
  local from = line.last and "(" .. line.last or "[" .. prefix
  local list = call("ZRANGEBYLEX", KR, from, "(" .. pack(">H", line.rule + 1), "LIMIT", "0", count)
  line.list, line.at, line.isWhole, line.count, line.isAhead = list, 1, #list < count, count, false
  if #list > 0 then line.last = list[#list] end
  if #line.later > 0 then joinLater(line) end
  local names = {}
  for at = 1, #list do names[at] = sub(list[at], NAME_AT) end
  line.names = names
  readHosts(names)
end

-- Leases of plain hosts that stand next in a line, one of each; how many. One that must be parsed, or may not go, ends them.
local function leasePlain(line, rule, wanted)
  local list, names, first, number, turn = line.list, line.names, line.at, line.rule, C[TURN]
  local readySet, ids, texts, drops, count = now + (rule.delay or 0), {}, {}, {}, 0
  for at = first, first + math.min(wanted, #list - first + 1, line.run) - 1 do
    local name = names[at]
    local text = hosts[name] == nil and hostTexts[name]
    if not text or byte(text, 21) ~= 1 then break end
    local readyAt, leased, flags, _, left, from, off, length = unpack_(">dI3BBI4I4HB", text, 55)
    -- A block of 0 begins with a byte 0.
    if flags % 4 ~= 0 or leased > 0 or readyAt > now or byte(text, 5) ~= 0 and unpack_(">d", text, 5) > now then break end
    local id, rest, dropped = nil, PLAIN_BYTES + 1, false
    if left * 6 == length and (C[STALE] == 0 or from == unpack_(">I4", text, 38)) then
      id, length, rest = sub(text, PLAIN_BYTES + 1, PLAIN_BYTES + 6), length - 6, PLAIN_BYTES + 7
    else
      local field = sub(text, 33, 37) .. sub(text, 72, 75)
      if parts[field] == nil and not line.isAhead then readAhead(line) end
      local part = parts[field]
      if not part or part == "" or left == 1 then break end
      id, off = sub(part, off + 1, off + 6), off + 6
      if off >= #part then from, off, dropped = from + 1, 0, field end
    end
    count = count + 1
    ids[count], drops[count] = id, dropped
    texts[count] = left == 1 and pack(">c20BI7dI3BB", text, 0, (turn + count) * FRACTIONS, readySet, 1, flags, NOWHERE)
      or pack(">c47I7dI3BBI4I4HBc0", text, (turn + count) * FRACTIONS, readySet, 1, flags, NOWHERE, left - 1, from, off, length, sub(text, rest))
  end
  local given = getMany(KC, ids)
  if C[STALE] > 0 then
    -- Of those that may have left their queues the first ends the run: it is looked at by itself.
    local leased = getMany(KL, ids)
    for at = 1, count do
      local bytes = given[at]
      local record = bytes and not leased[at] and not handed[ids[at]] and readRecord(bytes)
      local priority = unpack_(">d", hostTexts[names[first + at - 1]], 25)
      if not record or record.state ~= STATE_PENDING or record.rule ~= number or record.priority ~= priority then given[at] = false end
    end
  end
  local made = 0
  for at = 1, count do
    local bytes = given[at]
    if not bytes then break end
    local name, text = names[first + at - 1], texts[at]
    leaseOut(ids[at], bytes, sub(hostTexts[name], 48, 62), #text < PLAIN_BYTES and sub(text, 22, 36) or sub(text, 48, 62))
    dropReady[#dropReady + 1] = list[first + at - 1]
    editHost(name, text)
    local dropped = drops[at]
    if dropped then parts[dropped], dirtyParts[dropped] = "", true end
    made = at
  end
  C[TURN] = turn + made
  line.at, stepsLeft = first + made, stepsLeft - made
  line.run = made < count and 1 or line.run * 2
  if made > 0 then countLeases(number, made) end
  return made
end

-- Numbers of records that had left their queues were passed over.
local hasMoved = false

local function takeLease(host, queue, rule, id, bytes)
  local turnBefore, readyBefore, readySet = host[H_TURN], host[H_READYAT], -1
  host[H_LEASED] = host[H_LEASED] + 1
  C[TURN] = C[TURN] + 1
  local turnSet = C[TURN] * FRACTIONS
  if isClockKept(host, rule) then
    readySet = now + delayOf(host, rule)
    host[H_TURN], host[H_READYAT] = turnSet, readySet
  end
  leaseOut(pack(">I6", id), bytes, pack(">I7d", turnBefore, readyBefore), pack(">I7d", turnSet, readySet))
  queue[Q_COUNT] = queue[Q_COUNT] - 1
  countLeases(queue[Q_RULE], 1)
end

-- Puts a host that may go on into the line again. A peek writes nothing, so it notes those that are further behind.
local function comeBack(line, host)
  placeHost(host)
  if host[H_PLACE] % 2 ~= IN_READY then return end
  local top = topQueue(host, line.rule)
  local member = top and memberOf(host, top)
  if not member or not addReady[member] or joinLine(line, member) or not isPeek then return end
  line.later[#line.later + 1] = member
end

-- Takes numbers from the front of a queue whose records have left it; whether its next record is another one now.
local function dropStale(queue, isLast)
  if C[STALE] == 0 then return false end
  local dropped = false
  while queue[Q_COUNT] > 0 and mayGoOn() do
    if isStanding(keyOf(queue, isLast), queue) then break end
    popId(queue, isLast)
    hasMoved, dropped = true, true
  end
  return dropped
end

-- The next record of a queue; nil: it holds none and is gone, or the script may not go on.
local function takeNext(host, queue, isLast)
  while mayGoOn() do
    local id = popId(queue, isLast)
    if not id then
      dropQueue(host, queue)
      return nil
    end
    hasMoved = true
    local bytes = isStanding(id, queue)
    if bytes then return id, bytes end
  end
end

-- Makes what hands out of the next host of a line, whatever it is: so many leases; 0: it may not go.
--- @rare
local function parsedLeases()
  return function(line, rule, number, wanted)
    if not line.isAhead then readAhead(line) end
    local member = line.list[line.at]
    line.at = line.at + 1
    local host = hostAt(line.names[line.at - 1])
    local top = host and host[H_PLACE] ~= NOWHERE and topQueue(host, number)
    local at = top and memberOf(host, top) == member and goesAt(host, rule)
    if at and at <= now then
      touched[host[H_NAME]] = host
      local isPolite = rule.polite == 1
      local isLast = rule.lifo == 1 and top[Q_START] == 0
      unplace(host)
      local made = 0
      if isPolite or not dropStale(top, isLast) then
        for _ = 1, isPolite and 1 or wanted do
          local id, bytes = takeNext(host, top, isLast)
          if not id then break end
          takeLease(host, top, rule, id, bytes)
          made = made + 1
          if top[Q_COUNT] <= 0 or isPolite then break end
          dropStale(top, isLast)
          local next = line.list[line.at]
          if top[Q_COUNT] <= 0 or not next and not line.isWhole then break end
          local goes = goesAt(host, rule)
          if not goes or goes > now then break end
          top[Q_KEY] = keyOf(top, isLast)
          if next and isMemberBefore(next, memberOf(host, top)) then break end
        end
      end
      if top[Q_COUNT] <= 0 then dropQueue(host, top) end
      comeBack(line, host)
      return made
    end
    return 0
  end
end

local leaseParsed
-- Leases of the next host of a rule, one or, without politeness, as many as go before the next one; 0: there is none that may go. A peek
-- reads all that it may need at once: a host that comes back further behind than what was read is not written, and would not be read.
local function leaseOf(number, wanted)
  local rule, line = ruleOf(number), lineOf(number)
  while mayGoOn() do
    if line.at > #line.list then
      if line.isWhole then return 0 end
      readLine(line, isPeek and most or wanted)
      if #line.list == 0 then return 0 end
    end
    if line.isPlain then
      local made = leasePlain(line, rule, wanted)
      if made > 0 then return made end
    end
    leaseParsed = leaseParsed or parsedLeases()
    local made = leaseParsed(line, rule, number, wanted)
    if made > 0 then return made end
  end
  return 0
end

-- Rules by their passes, read a few at a time; the lowest pass goes.
--- @rare
local function leaseByShares(wanted)
  -- Passes since the set was read first, false of a rule that has nothing more: a peek does not write them.
  local line, farthest, passes, moved = {}, nil, {}, 0
  local function readShares()
    placeHosts()
    line = {}
    local asked = MORE + (isPeek and moved or 0)
    local list = call("ZRANGE", KG, 0, asked - 1, "WITHSCORES")
    for at = 1, #list, 2 do
      if list[at] ~= "" then
        local number, pass = unpack_(">H", list[at]), tonumber(list[at + 1])
        farthest = pass
        if passes[number] ~= nil then pass = passes[number] end
        if pass then insert(line, { number = number, member = list[at], pass = pass }) end
      end
    end
    if #list < 2 * asked or list[#list - 1] == "" then farthest = nil end
  end
  local function keepPass(number, pass)
    if passes[number] == nil then moved = moved + 1 end
    passes[number] = pass
  end
  readShares()
  while wanted > 0 and #line > 0 and mayGoOn() do
    local best = 1
    for at = 2, #line do
      local a, b = line[at], line[best]
      if a.pass < b.pass or (a.pass == b.pass and (ruleOf(a.number).order or 0) < (ruleOf(b.number).order or 0)) then
        best = at
      end
    end
    local turn = line[best]
    -- Rules that were not read may stand before one that has moved to where reading ended.
    if farthest and (turn.pass > farthest or turn.hasMoved and turn.pass == farthest) then readShares() else
      local made = leaseOf(turn.number, 1)
      if made > 0 then
        C[PASS] = turn.pass
        turn.pass, turn.hasMoved = turn.pass + 1 / (ruleOf(turn.number).rate or 100), true
        keepPass(turn.number, turn.pass)
        call("ZADD", KG, turn.pass, turn.member)
        wanted = wanted - made
      elseif stepsLeft > 0 then
        call("ZREM", KG, turn.member)
        call("HSET", KP, "s" .. turn.member, turn.pass)
        keepPass(turn.number, false)
        table.remove(line, best)
        if #line == 0 then readShares() end
      end
    end
  end
end

-- Makes what leases of one host, whatever its clock, its limit or a hold.
--- @rare
local function hostLeases()
  return function(name, wanted)
    local host = hostAt(name)
    if not host then return end
    touched[name] = host
    unplace(host)
    while wanted > 0 and mayGoOn() do
      local top
      for _, queue in ipairs(topsOf(host)) do
        if isClockKept(host, ruleOf(queue[Q_RULE])) and (not top or queue[Q_RULE] < top[Q_RULE]) then top = queue end
      end
      if not top then break end
      local rule = ruleOf(top[Q_RULE])
      local id, bytes = takeNext(host, top, rule.lifo == 1 and top[Q_START] == 0)
      if id then
        takeLease(host, top, rule, id, bytes)
        wanted = wanted - 1
        if top[Q_COUNT] <= 0 then dropQueue(host, top) end
      end
    end
    placeHost(host)
  end
end

local wanted = most
if limit > 0 then wanted = math.min(wanted, limit - C[LEASED]) end
if C[PAUSED] > now then wanted = 0 end
local isCut = not isPeek and changed > 0 and wanted > room
if isCut then wanted = room end
if wanted > 0 and ARGV[7] == "host" then hostLeases()(ARGV[8], wanted)
elseif wanted > 0 and ARGV[7] == "queues" then
  hasMoved = true -- clocks of queues
  local asked = cmsgpack.unpack(ARGV[8])
  if not (asked.whole and changed > 0 and hasDue()) then
    serveQueues(hostLeases(), function() return count end, wanted, asked)
  end
elseif wanted > 0 then
  if C[RULES] > 1 then leaseByShares(wanted) else
    local first = call("ZRANGEBYLEX", KR, "-", "(\253", "LIMIT", "0", "1")[1]
    while first and wanted > 0 and mayGoOn() do
      local made = leaseOf(unpack_(">H", first), wanted)
      if made == 0 then break end
      wanted = wanted - made
    end
  end
end

-- When there may be something: now, where the script's steps are used up.
local function nextAt()
  if stepsLeft <= 0 or isCut then return nowText end
  local at = C[PAUSED] > now and C[PAUSED] or nextTime()
  return at and string.format("%.17g", at) or ""
end

local given = concat(clocks)
local function answerAll(next)
  local answer = answerHead(next, deadline)
  answer[7] = given
  if count == 0 then answer[4][4] = counters end
  for each = 1, count do answer[each + 7] = leases[each] end
  return answer
end
if count == 0 and changed == 0 and not hasMoved or isPeek then
  if not isPeek and C[SLEEPERS] == 0 then
    C[SLEEPERS] = 1
    saveCounters()
  end
  return answerAll(count == 0 and nextAt() or "")
end
C[PENDING] = C[PENDING] - count
C[LEASED] = C[LEASED] + count
saveLeases()
if count < most then C[SLEEPERS] = 1 end
if count > 0 then
  local two = 2 * count
  sets[two + 1], sets[two + 2], sets[two + 3], sets[two + 4] = token, given, "n" .. token, pack(">I4d", count, deadline)
  callMany("HSET", KL, sets)
  call("ZADD", KE, deadline, token)
  keepAnswer(ARGV[2], "")
end
saveAll()
return answerAll(count < most and nextAt() or "")
