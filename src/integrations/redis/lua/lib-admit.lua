-- Admission: what becomes of requests whose rule, key and host the client has found.
--
--   rows    { groups, the group of each row 2, fingerprints 16, bodies }: rows in the order in which they came
--   group   { host, rule, priority, start, depth, options or false [, end] }: what rows have in common
--   body    a record without its first four bytes (lib-record.lua)
--   code    a digit for each request, in order: "0" accepted, "1" deferred, "2" duplicate, "7" budget, "A" full, "B" full of memory
--
--   options  d due at · k dedup ("r" record, "s" skip; "p" put: whatever is known and not leased makes way; "v" put as
--           finished; "a" seeded again: what is finished or failed makes way) · e epoch's name · o its request named the epoch · f its host's domain
local wokeSomething = false

-- The number of an epoch, made where its name is new.
local function familyNamed(name)
  local field = "e:" .. name
  local number = call("HGET", KM, field)
  if number then return tonumber(number) end
  C[FAMILIES] = C[FAMILIES] + 1
  call("HSET", KM, field, C[FAMILIES])
  return C[FAMILIES]
end

-- A shallower sighting lowers the depth of a record that still has its visit before it; its place follows.
local function lowerDepth(field, at, id, depth)
  local bytes = recordOf(id)
  if not bytes then return end
  local record = readRecord(bytes)
  if depth >= record.depth or record.state > STATE_WAITING then return end
  if call("HEXISTS", KL, pack(">I6", id)) == 1 then return end
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

-- Reads at once what admission needs of rows: their buckets, and of those that may be new their hosts with the ends of their queues.
local function readFor(groups, places, prints, own, numbers)
  local families = {}
  for index, group in ipairs(groups) do
    local options = group[6] or nil
    families[index] = familyOf(options and options.e and familyNamed(options.e) or 0)
  end
  for at = 1, #places / 2 do
    local high, low = byte(places, 2 * at - 1, 2 * at)
    local number = high * 256 + low
    numbers[at] = number
    local family = families[number]
    local hash = unpack_(">I4", prints, 16 * at - 15)
    local bucket = hash % family.size
    if bucket < family.split then bucket = hash % (family.size * 2) end
    own[at] = family.name .. pack(">I4", bucket)
  end
  readBuckets(own)
  local names, asked = {}, {}
  for at = 1, #own do
    local index = numbers[at]
    if not asked[index] and (groups[index][6] or not find(buckets[own[at]], sub(prints, at * 16 - 15, at * 16), 1, true)) then
      asked[index] = true
      names[#names + 1] = groups[index][1]
    end
  end
  readHosts(names)
  local tails = {}
  for _, name in ipairs(names) do
    local host = hosts[name]
    if host then for _, queue in ipairs(host[H_QUEUES]) do partToRead(queue, tails) end end
  end
  readParts(tails)
  return families
end

-- Admits rows in their order; returns the codes of their requests in one text. `isKept`: those of these groups alone.
local function admit(rows, capacity, isKept)
  local groups, places, prints, bodies = rows[1], rows[2], rows[3], rows[4]
  local own = {}
  local numbers = {}
  local families = readFor(groups, places, prints, own, numbers)
  local codes, records = {}, {}
  local first = C[NEXT_ID]
  local depths, made, targets, dues = {}, {}, {}, {}
  for index, group in ipairs(groups) do
    local options = group[6] or nil
    local rule = ruleOf(group[2])
    local due = options and options.d
    group.isLater = due ~= nil and due > now
    group.header = pack(">BBH", group.isLater and STATE_WAITING or STATE_PENDING, 1, 0)
    group.rule, group.kind = rule, options and options.k
    group.isBudgeted = rule.budgetUrls ~= nil or rule.budgetBytes ~= nil
    group.mayReplace = rule.every ~= nil and not (options and (options.o or options.k))
    group.isVisited = group.kind == "v"
    group.isPut = group.isVisited or group.kind == "p"
    if group.isVisited then group.header, group.isLater = pack(">BBH", STATE_KEPT, 1, 0), false end
    group.family = families[index]
    -- Groups that differ in other things alone share a queue, in which numbers stand in their order.
    local key = (group.isVisited and "v" or group.isLater and "w" or "q") .. group[1]
    if not group.isLater then key = key .. pack(">HdB", group[2], group[3], group[4]) end
    if not targets[key] then targets[key] = { group = group, ids = {} } end
    group.target = targets[key]
  end
  for at = 1, #own do
    local group = groups[numbers[at]]
    if not isKept or isKept(group) then
      local kind, family, depth, field = group.kind, group.family, group[5], own[at]
      local print = sub(prints, at * 16 - 15, at * 16)
      local entry = kind ~= "s" and entryAt(buckets[field], print) or nil
      local isNew, isNameless = not entry, kind == "s"
      local code, makesRoom
      if entry then
        local word = byte(buckets[field], entry + 16)
        if (group.mayReplace and family.number == 0 or kind == "r" and family.number == 0 or group.isPut or kind == "a") and canMakeWay(word, field, entry, group.mayReplace, kind) then
          isNew, makesRoom = true, word
        else
          if word == LIVE and depth < byte(buckets[field], entry + 17) then
            lowerDepth(field, entry, unpack_(">I6", buckets[field], entry + 18), depth)
          end
          if kind == "r" then
            isNew = true
            isNameless = word == LIVE
          else
            code = "2"
          end
        end
      end
      if isNew and group.isBudgeted then
        local host = hosts[group[1]]
        if host == nil then
          readHosts({ group[1] })
          host = hosts[group[1]]
        end
        local settings = host and host[H_SETTINGS]
        if (settings and settings.admitted or 0) >= (group.rule.budgetUrls or 1e15)
          or (host and host[H_BYTES] or 0) >= (group.rule.budgetBytes or 1e15) then code = "7" end
      end
      if not code and capacity > 0 and not (group.isPut and (entry or group.isVisited)) and C[PENDING] + C[WAITING] >= capacity then code = "A" end
      if not code then
        if kind == "r" and not makesRoom and entry and byte(buckets[field], entry + 16) == GONE_DONE then
          C[NAMELESS_DONE] = C[NAMELESS_DONE] + 1
        end
        if makesRoom then makesWay(makesRoom, field, entry, group.isPut) end
        local host = hostOf(group[1])
        if group.isBudgeted then
          settingsOf(host).admitted = settingsOf(host).admitted + 1
          host[H_KEPT] = true
        end
        local id = first + #records
        local body = bodies[at]
        if isNameless then body = asNameless(body) end
        if family.number > 0 then body = withFamily(body, family.number) end
        records[#records + 1] = group.header .. body
        if not isNameless then
          if entry then setWord(field, entry, liveWord(id, depth))
          else addEntry(family, field, print, liveWord(id, depth)) end
        end
        local ids = group.target.ids
        if #ids == 0 then made[#made + 1] = group.target end
        if not group.isMade then
          group.isMade = true
          local options = group[6]
          if options and options.f and not host[H_DECIDED] and host[H_TURN] == 0 then settingsOf(host).domain = options.f end
          if not group.isLater then decideTurn(host, group.rule) end
        end
        local member = pack(">I6", id)
        ids[#ids + 1] = member
        if group.isVisited then
          code = "0"
          C[DONE] = C[DONE] + 1
          C[KEPT] = C[KEPT] + 1
          countRule(group[2], 3, 1)
        elseif group.isLater then
          code = "1"
          dues[#dues + 1] = group[6].d
          dues[#dues + 1] = member
          C[WAITING] = C[WAITING] + 1
        else
          code = "0"
          C[PENDING] = C[PENDING] + 1
        end
        local name = depth < 255 and depth or 255
        depths[name] = (depths[name] or 0) + 1
      elseif group.isPut and entry then C[PUSHED] = C[PUSHED] - 1 -- it stays as it was
      elseif code == "2" then C[DUPLICATE] = C[DUPLICATE] + 1
      elseif code == "A" then C[FULL] = C[FULL] + 1
      elseif code == "7" then call("HINCRBY", KM, "x:budget", 1) end
      codes[#codes + 1] = code
    end
  end
  callMany("ZADD", KW, dues)
  for _, target in ipairs(made) do
    local group, ids = target.group, target.ids
    local host = hostOf(group[1])
    if group.isLater then
      appendIds(queueOf(host, WAITING_RULE, 0, 0), concat(ids), #ids)
      C[DEFERRED] = C[DEFERRED] + #ids
    elseif group.isVisited then
      C[ACCEPTED] = C[ACCEPTED] + #ids
    else
      local number, rule = group[2], group.rule
      local before = topQueue(host, number)
      local isLast = rule.polite ~= 1 and rule.lifo == 1 and group[4] == 0
      local isTop = before and not isLast
        and (before[Q_PRIORITY] > group[3] or (before[Q_PRIORITY] == group[3] and before[Q_START] <= group[4]))
      if not isTop then unplace(host) end
      appendIds(queueOf(host, number, group[3], group[4]), concat(ids), #ids)
      C[ACCEPTED] = C[ACCEPTED] + #ids
      countRule(number, 1, #ids)
    end
    wokeSomething = true
  end
  addRecords(records)
  for depth, count in pairs(depths) do call("HINCRBY", KM, "d:" .. depth, count) end
  C[PUSHED] = C[PUSHED] + #codes
  return concat(codes)
end
