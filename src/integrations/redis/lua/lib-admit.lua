-- Admission: what becomes of requests whose rule, key and host the client has found.
--
--   rows    { names of hosts, terms, host 2 and terms 2 of each row, fingerprints 16, records }: rows in the order in which they came
--   terms   { rule, priority, start, depth, options or false [, end] }: what rows have in common
--   record  as it stands (lib-record.lua), pending
--   code    a digit for each request, in order: "0" accepted, "1" deferred, "2" duplicate, "7" budget, "A" full, "B" full of memory, "J" of epochs;
--           "3" duplicate, shallower than what is known: the same sighting may change its depth later
--
--   options  d due at · k dedup ("r" record, "s" skip; "p" put: whatever is known and not leased makes way; "v" put as
--           finished; "a" seeded again: what is finished or failed makes way) · e epoch's name · o its request named the epoch · f its host's domain
local wokeSomething = false

-- The number of an epoch, made where its name is new; nil: two bytes have no more.
local function familyNamed(name)
  local field = "e:" .. name
  local number = call("HGET", KM, field)
  if number then return tonumber(number) end
  if C[FAMILIES] >= 65535 then return nil end
  C[FAMILIES] = C[FAMILIES] + 1
  call("HSET", KM, field, C[FAMILIES])
  return C[FAMILIES]
end

-- Makes what becomes of identities that are known.
--- @rare
local function knownWays()
  -- A shallower sighting lowers the depth of a record that still has its visit before it; its place follows. False: it has none.
  local function lowerDepth(field, at, id, depth)
    local bytes = recordOf(id)
    if not bytes then return false end
    local record = readRecord(bytes)
    if depth >= record.depth or record.state > STATE_WAITING then return false end
    if call("HEXISTS", KL, pack(">I6", id)) == 1 then return false end
    local gained = (record.depth - depth) * (ruleOf(record.rule).depthPriority or 0)
    bytes = withDepth(bytes, depth)
    if gained ~= 0 then
      local priority = clampPriority(record.priority + gained)
      if record.state == STATE_PENDING then
        local host = hostOf(ownHost(record, bytes))
        unplace(host)
        local before = queueOf(host, record.rule, record.priority, record.isStart)
        before[Q_COUNT] = before[Q_COUNT] - 1
        if before[Q_COUNT] <= 0 then dropQueue(host, before) else C[STALE] = C[STALE] + 1 end
        insertId(queueOf(host, record.rule, priority, record.isStart), id)
      end
      bytes = withPriority(bytes, priority)
    end
    setRecord(id, bytes)
    setWord(field, at, liveWord(id, depth))
    return true
  end

  -- Whether a push of a known identity may stand in for it: its rule crawls again, and its time has come.
  local function canMakeWay(word, field, at, mayReplace, kind)
    local isPut = kind == "p" or kind == "v"
    if word == GONE_DONE then return isPut or mayReplace or kind == "a" end
    if word ~= LIVE then return isPut end
    local id = unpack_(">I6", buckets[field], at + 18)
    if isPut then return call("HEXISTS", KL, pack(">I6", id)) == 0 end
    local bytes = recordOf(id)
    if not bytes then return false end
    local record = readRecord(bytes)
    if record.state == STATE_RESTING then
      return kind ~= nil or tonumber(call("ZSCORE", KW, pack(">I6", id)) or "inf") <= now
    end
    if record.state == STATE_FAILED then return mayReplace or kind == "a" end
    if record.state == STATE_KEPT then return kind ~= nil end
    return record.state == STATE_PENDING and record.isAgain and mayReplace and call("HEXISTS", KL, pack(">I6", id)) == 0
  end

  -- Takes out the record that a push stands in for.
  local function makesWay(word, field, at, isPut)
    if isPut and word ~= GONE_REMOVED then C[FORGOTTEN] = C[FORGOTTEN] + 1 end
    if word ~= LIVE then
      if word == GONE_DONE then
        if isPut then C[DONE] = C[DONE] - 1 else C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1 end
      end
      return
    end
    local id = unpack_(">I6", buckets[field], at + 18)
    local bytes = recordOf(id)
    local record = readRecord(bytes)
    if record.state == STATE_RESTING then
      call("ZREM", KW, pack(">I6", id))
      C[RESTING] = C[RESTING] - 1
      if isPut then C[DONE] = C[DONE] - 1 else C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1 end
    elseif record.state == STATE_FAILED then
      call("HDEL", KX, pack(">I6", id))
      C[FAILED] = C[FAILED] - 1
      if not isPut then C[FORGOTTEN] = C[FORGOTTEN] + 1 end
      countRule(record.rule, 4, -1)
    elseif record.state == STATE_KEPT then
      C[KEPT] = C[KEPT] - 1
      if isPut then C[DONE] = C[DONE] - 1 else C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1 end
    elseif record.state == STATE_WAITING then
      call("ZREM", KW, pack(">I6", id))
      leaveWaiting(hostOf(ownHost(record, bytes)))
      C[WAITING] = C[WAITING] - 1
    else
      leaveQueue(record, bytes)
      if not isPut then C[DONE], C[NAMELESS_DONE] = C[DONE] + 1, C[NAMELESS_DONE] + 1 end
      countRule(record.rule, 1, -1)
    end
    dropRecord(id)
  end

  return lowerDepth, canMakeWay, makesWay
end

-- Terms with what their rows need. Terms whose rows go to the same queue of a host share their targets: new numbers by host.
local function readTerms(list)
  local all, targets = {}, {}
  for index = 1, #list do
    local number, priority, start, depth, options = unpack(list[index], 1, 5)
    options = options or nil
    local rule, due, kind = ruleOf(number), options and options.d, options and options.k
    local isVisited = kind == "v"
    local isLater = not isVisited and due and due > now
    local queue = pack(">HBd", number, start, priority)
    local key = isVisited and "v" or isLater and "w" or queue
    if not targets[key] then targets[key] = {} end
    local isLast = rule.polite ~= 1 and rule.lifo == 1 and start == 0
    local epoch = options and options.e
    local family = epoch and familyNamed(epoch) or 0
    local isBudgeted = rule.budgetUrls ~= nil or rule.budgetBytes ~= nil
    all[index] = { number = number, rule = rule, priority = priority, start = start, depth = depth, queue = queue, targets = targets[key],
      due = due, kind = kind, isVisited = isVisited, isLater = isLater, isPut = isVisited or kind == "p", finish = list[index][6],
      isBudgeted = isBudgeted, isPlain = not (options or isBudgeted or isLast or rule.freshGap), isLast = isLast,
      mayReplace = rule.every ~= nil and not (options and (options.o or options.k)), domain = options and options.f,
      family = familyOf(family), isFull = epoch and family == 0, admitted = 0,
      word = char(LIVE, depth < 255 and depth or 255) }
  end
  return all
end

-- Reads the buckets of rows at once, and the hosts of those whose terms may need them; fills in what each row has.
local function readRows(rows, terms, fields, own, hostNames)
  local names, places, prints = rows[1], rows[3], rows[4]
  local wanted = {}
  for at = 1, #places / 4 do
    local a, b, c, d = byte(places, 4 * at - 3, 4 * at)
    local term, name = terms[c * 256 + d], names[a * 256 + b]
    own[at], hostNames[at] = term, name
    local family = term.family
    local hash = unpack_(">I4", prints, 16 * at - 15)
    local bucket = hash % family.size
    if bucket < family.split then bucket = hash % (family.size * 2) end
    fields[at] = pack(">HI4", family.number, bucket)
    if not term.isPlain then wanted[#wanted + 1] = name end
  end
  readBuckets(fields)
  readHosts(wanted)
end

-- Makes what finds whether the budget of a host is spent, and what counts a URL of it.
--- @rare
local function budgets()
  return function(term, name)
    local host = hostAt(name)
    local settings = host and host[H_SETTINGS]
    return (settings and settings.admitted or 0) >= (term.rule.budgetUrls or 1e15) or (host and host[H_BYTES] or 0) >= (term.rule.budgetBytes or 1e15)
  end, function(name)
    local host = hostOf(name)
    settingsOf(host).admitted = settingsOf(host).admitted + 1
    host[H_KEPT] = true
  end
end

-- Adds numbers to the only queue of a plain host, or begins one where it is new or has no work; false: it must be parsed.
local function appendPlain(text, term, name, ids)
  if text and byte(text, 21) == 1 then
    local flags, place, count, first, off, length = unpack_(">BBI4I4HB", text, 66)
    length = length + #ids
    if flags % 4 >= HAS_SETTINGS or place == NOWHERE or sub(text, 22, 32) ~= term.queue or length > PART_BYTES then return false end
    editHost(name, pack(">c67I4I4HBc0c0", text, count + #ids / 6, first, off, length, sub(text, 79), ids))
    return true
  end
  local rule, joined, turn, leased, flags, place, readyAt, block, bytes, count = term.rule, C[JOINED] + 1, 0, 0, 0, NOWHERE, 0, 0, 0, 0
  if text then
    joined, block, bytes, count = unpack_(HOST, text)
    if count == 0 then turn, readyAt, leased, flags, place = unpack_(TURNS, text, 22) end
  end
  if rule.polite ~= 1 or #ids > PART_BYTES or flags % 4 ~= 0 or place ~= NOWHERE or count ~= 0 then return false end
  if not text then C[JOINED], C[HOSTS] = joined, C[HOSTS] + 1 end
  local number, at = C[NEXT_QUEUE] + 1, readyAt > block and readyAt or block
  C[NEXT_QUEUE] = number
  if leased < (rule.perHost or 1) then place = at > now and IN_DELAYED or IN_READY end
  text = pack(HOST, joined, block, bytes, 1) .. pack(LANE, term.number, term.start, term.priority, number, FIRST_PART, 0)
    .. pack(TURNS, turn, readyAt, leased, flags, place) .. pack(ENDS, #ids / 6, FIRST_PART, 0, #ids) .. ids
  editHost(name, text)
  if place == NOWHERE then return true end
  local member = politeHead(term.queue)[1] .. pack(">BI7", turn == 0 and 0 or 1, turn == 0 and joined or turn) .. name
  if place == IN_DELAYED then addDelayed[member] = at else
    addReady[member] = true
    if C[RULES] > 1 then joinedRules[term.number] = true end
  end
  return true
end

-- Makes what adds the numbers of new records to a queue of their host.
--- @rare
local function parsedAppends()
  return function(term, name, ids)
    local host = hostOf(name)
    if term.domain and not host[H_DECIDED] and host[H_TURN] == 0 then settingsOf(host).domain = term.domain end
    if term.isLater then return appendIds(queueOf(host, WAITING_RULE, 0, 0), ids, #ids / 6) end
    decideTurn(host, term.rule)
    if term.isVisited then return end
    local before = topQueue(host, term.number)
    local isTop = before and not term.isLast
      and (before[Q_PRIORITY] > term.priority or (before[Q_PRIORITY] == term.priority and before[Q_START] <= term.start))
    if not isTop then unplace(host) end
    appendIds(queueOf(host, term.number, term.priority, term.start), ids, #ids / 6)
  end
end

-- The same, without parsing a plain host.
local appendParsed
local function appendNew(term, name, ids)
  if term.isPlain and hosts[name] == nil and appendPlain(hostTexts[name], term, name, ids) then return end
  appendParsed = appendParsed or parsedAppends()
  appendParsed(term, name, ids)
end

-- Counts what was admitted under terms.
local function countTerms(terms)
  local depths = {}
  for index = 1, #terms do
    local term = terms[index]
    local count = term.admitted
    if count > 0 then
      if term.isLater then C[DEFERRED] = C[DEFERRED] + count else C[ACCEPTED] = C[ACCEPTED] + count end
      if term.isVisited then
        C[DONE], C[KEPT] = C[DONE] + count, C[KEPT] + count
        countRule(term.number, 3, count)
      elseif not term.isLater then countRule(term.number, 1, count) end
      local depth = math.min(term.depth, 1024)
      depths[depth] = (depths[depth] or 0) + count
    end
  end
  for depth, count in pairs(depths) do call("HINCRBY", KM, "d:" .. depth, count) end
end

-- Admits rows in their order; returns the codes of their requests in one text. `isKept`: those of these ends alone.
--- @rare
local function admit(rows, capacity, isKept)
  local prints, given = rows[4], rows[5]
  local terms, fields, own, hostNames = readTerms(rows[2]), {}, {}, {}
  readRows(rows, terms, fields, own, hostNames)
  local codes, firsts, dues, count = {}, {}, {}, 0
  local lowerDepth, canMakeWay, makesWay, isSpent, spend

  -- New records stand in no queue until this puts them there; those from this number on do not yet.
  local unplaced = C[NEXT_ID]
  local function placeNew()
    callMany("ZADD", KW, dues)
    local names = {}
    for index = 1, #firsts do names[index] = hostNames[firsts[index]] end
    readHosts(names)
    for index = 1, #firsts do
      local targets, name = own[firsts[index]].targets, names[index]
      appendNew(own[firsts[index]], name, targets[name])
      targets[name] = nil
      wokeSomething = true
    end
    firsts, dues, unplaced = {}, {}, C[NEXT_ID]
  end

  for at = 1, #own do
    local term = own[at]
    if not isKept or isKept(term.finish) then
      local kind, depth, field, name = term.kind, term.depth, fields[at], hostNames[at]
      local print = sub(prints, at * 16 - 15, at * 16)
      local bucket = buckets[field]
      local entry = kind ~= "s" and not term.isFull and entryAt(bucket, print) or nil
      local isNew, isNameless = not entry, kind == "s"
      local code, makesRoom
      if entry then
        if not makesWay then lowerDepth, canMakeWay, makesWay = knownWays() end
        local word = byte(bucket, entry + 16)
        local id = word == LIVE and unpack_(">I6", bucket, entry + 18) or -1
        -- The same URL came before in this batch, and what follows may take it out of its queue.
        if id >= unplaced and (term.isPut or kind or depth < byte(bucket, entry + 17)) then placeNew() end
        local asks = term.isPut or kind == "a" or (term.mayReplace or kind == "r") and term.family.number == 0
        if asks or kind == "r" then word = kindOf(buckets[field], entry) end
        if asks and canMakeWay(word, field, entry, term.mayReplace, kind) then
          isNew, makesRoom = true, word
        else
          local isShallower = depth < byte(bucket, entry + 17)
          if isShallower and word == LIVE then isShallower = not lowerDepth(field, entry, id, depth) end
          if kind == "r" then
            isNew = true
            isNameless = word == LIVE
          else
            code = isShallower and "3" or "2"
          end
        end
      end
      if isNew and term.isBudgeted then
        if not spend then isSpent, spend = budgets() end
        if isSpent(term, name) then code = "7" end
      end
      if term.isFull then code = "J" elseif not code and not (term.isPut and (entry or term.isVisited)) and C[PENDING] + C[WAITING] >= capacity then code = "A" end
      if not code then
        if kind == "r" and not makesRoom and entry and kindOf(buckets[field], entry) == GONE_DONE then
          C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1
        end
        if makesRoom then makesWay(makesRoom, field, entry, term.isPut) end
        -- Clients remember the least depth at which a URL was seen.
        if entry and not isNameless and depth > byte(bucket, entry + 17) then C[GENERATION] = C[GENERATION] + 1 end
        if term.isBudgeted then spend(name) end
        local bytes = given[at]
        if isNameless then bytes = asNameless(bytes) end
        if term.family.number > 0 then bytes = withFamily(bytes, term.family.number) end
        if term.isVisited or term.isLater then bytes = withState(bytes, term.isVisited and STATE_KEPT or STATE_WAITING, 1, 0) end
        local member = addRecord(bytes)
        if not isNameless then
          if entry then setWord(field, entry, term.word .. member) else
            buckets[field] = bucket .. print .. term.word .. member
            dirtyBuckets[field] = true
            term.family.count = term.family.count + 1
          end
        end
        local targets = term.targets
        local ids = targets[name]
        if ids then targets[name] = ids .. member else
          targets[name] = member
          firsts[#firsts + 1] = at
        end
        term.admitted = term.admitted + 1
        code = "0"
        if term.isLater then
          code = "1"
          dues[#dues + 1] = term.due
          dues[#dues + 1] = member
          C[WAITING] = C[WAITING] + 1
        elseif not term.isVisited then C[PENDING] = C[PENDING] + 1 end
      elseif term.isPut and entry then C[PUSHED] = C[PUSHED] - 1 -- it stays as it was
      elseif code == "2" or code == "3" then C[DUPLICATE] = C[DUPLICATE] + 1
      elseif code == "A" or code == "J" then C[FULL] = C[FULL] + 1
      elseif code == "7" then call("HINCRBY", KM, "x:budget", 1) end
      count = count + 1
      codes[count] = code
    end
  end
  placeNew()
  countTerms(terms)
  C[PUSHED] = C[PUSHED] + count
  return concat(codes)
end
