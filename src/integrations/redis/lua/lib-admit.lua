-- Admission: what becomes of requests whose rule, key and host the client has found.
--
--   group   { host, rule, priority, start, depth, fingerprints, bodies, options or nil }
--   body    a record without its first four bytes (lib-record.lua)
--   code    a digit for each request, in order: "0" accepted, "1" deferred, "2" duplicate, "7" budget, "A" full, "B" full of memory
--
--   options  h the host whose budget it takes from, where that is another · d due at · k dedup ("r" record, "s" skip, "a" again) · e epoch's name · c capacity that holds
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
      local host = hostOf(hostOfRecord(record, bytes))
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

-- Whether a push of a known identity stands in for it: its rule crawls again, and its time has come.
local function makesWay(word, field, at, rule, kind)
  if word == GONE_DONE then return kind == "a" or rule.every ~= nil end
  if word ~= LIVE then return false end
  local id = unpack_(">I6", buckets[field], at + 18)
  local bytes = recordOf(id)
  if not bytes then return false end
  local record = readRecord(bytes)
  if record.state == STATE_RESTING then
    local due = tonumber(call("ZSCORE", KW, pack(">I6", id)) or "inf")
    if kind == nil and due > now then return false end
    call("ZREM", KW, pack(">I6", id))
    C[RESTING] = C[RESTING] - 1
  elseif record.state == STATE_FAILED and (rule.every or kind == "a") then
    call("HDEL", KX, pack(">I6", id))
    C[FAILED] = C[FAILED] - 1
    C[FORGOTTEN] = C[FORGOTTEN] + 1
    countRule(record.rule, 4, -1)
  elseif record.state == STATE_KEPT then
    C[KEPT] = C[KEPT] - 1
  else
    return false
  end
  dropRecord(id)
  return true
end

-- Admits groups; returns the codes of their requests in one text.
local function admit(groups, capacity)
  local fields = {}
  for _, group in ipairs(groups) do
    local options = group[8] or nil
    local family = familyOf(options and options.e and familyNamed(options.e) or 0)
    group.family = family
    local prints = group[6]
    local own = {}
    for at = 1, #prints, 16 do
      local hash = unpack_(">I4", prints, at)
      local bucket = hash % family.size
      if bucket < family.split then bucket = hash % (family.size * 2) end
      local field = family.name .. pack(">I4", bucket)
      own[#own + 1] = field
      fields[#fields + 1] = field
    end
    group.fields = own
  end
  readBuckets(fields)
  -- Hosts are read for what may be new; most links of a page are known.
  local names = {}
  for at, group in ipairs(groups) do
    local prints, own = group[6], group.fields
    for index = 1, #own do
      if not find(buckets[own[index]], sub(prints, index * 16 - 15, index * 16), 1, true) or group[8] then
        names[#names + 1] = group[1]
        if group[8] and group[8].h then names[#names + 1] = group[8].h end
        break
      end
    end
  end
  readHosts(names)
  local tails = {}
  for _, name in ipairs(names) do
    local host = hosts[name]
    if host then for _, queue in ipairs(host[H_QUEUES]) do partToRead(queue, tails) end end
  end
  readParts(tails)
  local codes, records = {}, {}
  local first = C[NEXT_ID]
  local depths = {}
  for _, group in ipairs(groups) do
    local prints, bodies, own, options, family = group[6], group[7], group.fields, group[8] or {}, group.family
    local depth, ruleNumber = group[5], group[2]
    local rule = ruleOf(ruleNumber)
    local due = options.d
    local isLater = due ~= nil and due > now
    local header = pack(">BBH", isLater and STATE_WAITING or STATE_PENDING, 1, 0)
    local begin = #records
    for index = 1, #own do
      local field = own[index]
      local print = sub(prints, index * 16 - 15, index * 16)
      local bucket = buckets[field]
      local at = options.k ~= "s" and entryAt(bucket, print) or nil
      local isNew, isNameless = not at, options.k == "s"
      local code
      if at then
        local kind = byte(bucket, at + 16)
        if kind == LIVE and depth < byte(bucket, at + 17) then
          lowerDepth(field, at, unpack_(">I6", bucket, at + 18), depth)
        end
        if (rule.every or options.k) and family.number == 0 and makesWay(kind, field, at, rule, options.k) then
          isNew = true
        elseif options.k == "r" then
          isNew = true
          isNameless = kind == LIVE
        else
          code = "2"
        end
      end
      if isNew and (rule.budgetUrls or rule.budgetBytes) then
        local name = options.h or group[1]
        local host = hosts[name]
        local settings = host and host[H_SETTINGS]
        local admitted = settings and settings.admitted or 0
        if admitted >= (rule.budgetUrls or 1e15) or (settings and settings.bytes or 0) >= (rule.budgetBytes or 1e15) then
          code = "7"
        else
          settings = settingsOf(hostOf(name))
          settings.admitted = settings.admitted + 1
          hosts[name][H_KEPT] = true
        end
      end
      if not code and capacity > 0 and C[PENDING] + C[WAITING] + #records - begin >= capacity then code = "A" end
      if not code then
        local id = first + #records
        local body = bodies[index]
        if isNameless then body = asNameless(body) end
        if family.number > 0 then body = withFamily(body, family.number) end
        records[#records + 1] = header .. body
        if not isNameless then
          if at then setWord(field, at, liveWord(id, depth))
          else addEntry(family, field, print, liveWord(id, depth)) end
        end
        code = isLater and "1" or "0"
        local name = depth < 255 and depth or 255
        depths[name] = (depths[name] or 0) + 1
      elseif code == "2" then C[DUPLICATE] = C[DUPLICATE] + 1
      elseif code == "A" then C[FULL] = C[FULL] + 1
      elseif code == "7" then call("HINCRBY", KM, "x:budget", 1) end
      codes[#codes + 1] = code
    end
    local made = #records - begin
    if made > 0 and isLater then
      local list = {}
      for each = 0, made - 1 do
        list[#list + 1] = due
        list[#list + 1] = pack(">I6", first + begin + each)
      end
      callMany("ZADD", KW, list)
      C[DEFERRED] = C[DEFERRED] + made
      C[WAITING] = C[WAITING] + made
      wokeSomething = true
    elseif made > 0 then
      local host = hostOf(group[1])
      local before = topQueue(host, ruleNumber)
      local isTop = before and (before[Q_PRIORITY] > group[3] or (before[Q_PRIORITY] == group[3] and before[Q_START] <= group[4]))
      if not isTop then unplace(host) end
      local ids = {}
      for each = 0, made - 1 do ids[each + 1] = pack(">I6", first + begin + each) end
      appendIds(queueOf(host, ruleNumber, group[3], group[4]), concat(ids), made)
      if host[H_PLACE] == IN_CLEANUP then unplace(host) end
      C[ACCEPTED] = C[ACCEPTED] + made
      C[PENDING] = C[PENDING] + made
      countRule(ruleNumber, 1, made)
      wokeSomething = true
    end
  end
  addRecords(records)
  for depth, count in pairs(depths) do call("HINCRBY", KM, "d:" .. depth, count) end
  C[PUSHED] = C[PUSHED] + #codes
  return concat(codes)
end
