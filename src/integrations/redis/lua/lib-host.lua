-- Hosts and their queues. A host is the unit of politeness; it is kept for good, since its turn and the order of joining count later.
--
--   host    joined 4 · blocked until 8 · bytes of its pages 8 · queues 1 [· lane of the first queue] · turn × 4096 7 · ready at 8
--           · leased 3 · flags 1 · place 1 [· how many queues, where they are more than 255: 4] [· ends of the first queue]
--           · lane and ends of each other queue [· settings: length 2, msgpack]
--   lane    what of a queue stays: rule 2 · start 1 · priority 8 · number 5 · parts to 4 · key 6
--   ends    what each hand-out changes: count 4 · parts from 4 · begin in the first 2 · tail: length 1, text
--   ready   rule 2 · priority, largest first 8 · start 1 · order 8 · name: members of one sorted set without scores, so that their
--           bytes are the order: rule, priority, then as the rule has it
--
--   order of a rule with politeness      its host's turn, hosts that were never leased before all others in the order of joining
--   order of a rule without              start requests last, then the place of the queue's next record
--
-- A queue is its records' numbers in their order: parts of 16 in a hash, then up to 16 in the host itself, the tail. Its key is the next
-- record's number where that decides its member. The queue of rule 65534 has the numbers of the host's records that wait for their time.
--
-- A plain host has no settings and at most one queue, so that all its fields have their places: most steps change its text alone, and
-- parse nothing. A host is parsed when something else is asked of it, and from then on its text is out of date.
--- @const Q_RULE = 1, Q_START = 2, Q_PRIORITY = 3, Q_NUMBER = 4, Q_B = 5, Q_KEY = 6
--- @const Q_COUNT = 7, Q_A = 8, Q_OFF = 9, Q_LENGTH = 10, Q_TAIL = 11
--- @const H_JOINED = 1, H_BLOCK = 2, H_BYTES = 3, H_QUEUECOUNT = 4, H_TURN = 5, H_READYAT = 6, H_LEASED = 7, H_FLAGS = 8, H_PLACE = 9
--- @const H_NAME = 10, H_QUEUES = 11, H_HELD = 12, H_KEPT = 13, H_SETTINGS = 14, H_STEERED = 15, H_DECIDED = 16
--- @const HELD = 1, HAS_SETTINGS = 2, KEPT_HOST = 4, STEERED_HOST = 8, DECIDED_HOST = 16, MANY_QUEUES = 32
--- @const NOWHERE = 0, IN_READY = 1, IN_DELAYED = 2
--- @const PART_BYTES = 96, FIRST_PART = 1048576, FRACTIONS = 4096
--- @const WAITING_RULE = 65534
--- @const HOST = ">I4ddB", LANE = ">HBdI5I4I6", TURNS = ">I7dI3BB", ENDS = ">I4I4HB", PLAIN_BYTES = 78

-- Texts of hosts as read or changed, false: there is none; names and texts to be written; parsed hosts; those of them that may have changed.
local hostTexts, edited, editedCount, hosts, touched = {}, {}, 0, {}, {}
local addReady, dropReady, addDelayed, dropDelayed, joinedRules = {}, {}, {}, {}, {}

local function parseHost(name, text)
  local joined, block, bytes, count, at = unpack_(HOST, text)
  local settings, queues, turn, readyAt, leased, flags, place = false, {}, nil, nil, nil, nil, nil
  if count > 0 then
    queues[1] = { unpack_(LANE, text, at) }
    at = queues[1][Q_COUNT]
  end
  turn, readyAt, leased, flags, place, at = unpack_(TURNS, text, at)
  if flags >= MANY_QUEUES then
    count, at = unpack_(">I4", text, at)
    flags = flags - MANY_QUEUES
  end
  for each = 1, count do
    local queue = queues[each] or { unpack_(LANE, text, at) }
    if each > 1 then at = queue[Q_COUNT] end
    queue[Q_COUNT], queue[Q_A], queue[Q_OFF], queue[Q_LENGTH], at = unpack_(ENDS, text, at)
    local length = queue[Q_LENGTH]
    queue[Q_TAIL] = sub(text, at, at + length - 1)
    at = at + length
    queues[each] = queue
  end
  if flags % 4 >= HAS_SETTINGS then
    local length
    length, at = unpack_(">H", text, at)
    settings = cmsgpack.unpack(sub(text, at, at + length - 1))
  end
  return { joined, block, bytes, count, turn, readyAt, leased, flags, place, name, queues, flags % 2 >= HELD,
    flags % 8 >= KEPT_HOST, settings, flags % 16 >= STEERED_HOST, flags >= DECIDED_HOST }
end

local function packHost(host)
  local settings, queues = host[H_SETTINGS], host[H_QUEUES]
  host[H_FLAGS] = (host[H_HELD] and HELD or 0) + (settings and HAS_SETTINGS or 0) + (host[H_KEPT] and KEPT_HOST or 0)
    + (host[H_STEERED] and STEERED_HOST or 0) + (host[H_DECIDED] and DECIDED_HOST or 0)
  local isMany = #queues > 255
  host[H_QUEUECOUNT] = isMany and 255 or #queues
  if isMany then host[H_FLAGS] = host[H_FLAGS] + MANY_QUEUES end
  local texts, clock = { pack(HOST, unpack(host, 1, H_QUEUECOUNT)) }, pack(TURNS, unpack(host, H_TURN, H_PLACE))
  if isMany then clock = clock .. pack(">I4", #queues) end
  for at = 1, #queues do
    local queue, count = queues[at], #texts
    queue[Q_LENGTH] = #queue[Q_TAIL]
    texts[count + 1], texts[count + 2] = pack(LANE, unpack(queue, 1, Q_KEY)), clock
    texts[count + 3], texts[count + 4] = pack(ENDS, unpack(queue, Q_COUNT, Q_LENGTH)), queue[Q_TAIL]
    clock = ""
  end
  texts[#texts + 1] = clock
  if settings then
    local packed = cmsgpack.pack(settings)
    texts[#texts + 1] = pack(">H", #packed) .. packed
  end
  return concat(texts)
end

local function readHosts(names)
  local missing = {}
  for at = 1, #names do
    local name = names[at]
    if hostTexts[name] == nil then
      hostTexts[name] = false
      missing[#missing + 1] = name
    end
  end
  local texts = getMany(KH, missing)
  for at = 1, #missing do hostTexts[missing[at]] = texts[at] end
end

-- A host, or false.
local function hostAt(name)
  local host = hosts[name]
  if host ~= nil then return host end
  local text = hostTexts[name]
  if text == nil then text = call("HGET", KH, name) end
  host = text and parseHost(name, text)
  hostTexts[name], hosts[name] = text, host
  return host
end

-- A host, made where it is not known.
local function hostOf(name)
  local host = hostAt(name)
  if not host then
    C[JOINED] = C[JOINED] + 1
    C[HOSTS] = C[HOSTS] + 1
    host = { C[JOINED], 0, 0, 0, NOWHERE, 0, 0, 0, 0, name, {}, false, false, false, false, false }
    hosts[name] = host
  end
  touched[name] = host
  return host
end

-- Changes the text of a host that is not parsed.
local function editHost(name, text)
  hostTexts[name] = text
  edited[editedCount + 1], edited[editedCount + 2] = name, text
  editedCount = editedCount + 2
end

local function settingsOf(host)
  if not host[H_SETTINGS] then host[H_SETTINGS] = { failures = 0, delay = -1, limit = 0, adaptive = -1, admitted = 0 } end
  return host[H_SETTINGS]
end

-- An address as a host keeps it; nil: not known.
local function keptAddress(text)
  return text ~= "" and #text <= 256 and text or nil
end

local function delayOf(host, rule)
  local settings = host[H_SETTINGS]
  if settings and settings.delay >= 0 then return settings.delay end
  if not rule.adaptMax then return rule.delay or 0 end
  if settings and settings.adaptive >= 0 then return settings.adaptive end
  return math.min(math.max(rule.delay or 0, rule.adaptMin), rule.adaptMax)
end

local function limitOf(host, rule)
  local settings = host[H_SETTINGS]
  if settings and settings.limit > 0 then return settings.limit end
  return rule.polite == 1 and (rule.perHost or 1) or 1e15
end

-- Whether delay and turn of a host mean anything to a rule: without politeness they do once the host was set by hand, blocked or held.
local function isClockKept(host, rule) return rule.polite == 1 or host[H_STEERED] end

-- When a host may go for a rule, or nil: not by time alone.
local function goesAt(host, rule)
  if host[H_HELD] or host[H_LEASED] >= limitOf(host, rule) then return nil end
  if not isClockKept(host, rule) then return 0 end
  return math.max(host[H_READYAT], host[H_BLOCK])
end

-- Larger priorities have smaller bytes, exact for every safe integer; one bit more says that they are negative.
local function memberOf(host, queue)
  local priority, rule = queue[Q_PRIORITY], ruleOf(queue[Q_RULE])
  local sign, size = 0, 9007199254740992 - priority
  if priority < 0 then sign, size = 1, -priority end
  if rule.polite == 1 then
    local turn = host[H_TURN]
    return pack(">HBI7BBI7", queue[Q_RULE], sign, size, 0, turn == 0 and 0 or 1, turn == 0 and host[H_JOINED] or turn)
      .. host[H_NAME]
  end
  local key = queue[Q_KEY]
  if rule.lifo == 1 and queue[Q_START] == 0 then key = 281474976710655 - key end
  return pack(">HBI7BBI7", queue[Q_RULE], sign, size, queue[Q_START], 0, key) .. host[H_NAME]
end
--- @const NAME_AT = 20

-- How members of a polite rule's hosts begin, and the rule, by the first 11 bytes of a queue's lane.
local politeHeads = {}
local function politeHead(queue)
  local head = politeHeads[queue]
  if not head then
    local number, _, priority = unpack_(">HBd", queue)
    head = { priority < 0 and pack(">HBI7B", number, 1, -priority, 0) or pack(">HBI7B", number, 0, 9007199254740992 - priority, 0), number }
    politeHeads[queue] = head
  end
  return head
end

local function isBefore(a, b)
  if a[Q_PRIORITY] ~= b[Q_PRIORITY] then return a[Q_PRIORITY] > b[Q_PRIORITY] end
  return a[Q_START] < b[Q_START]
end

-- The queue of a rule that goes next, or nil.
local function topQueue(host, rule)
  local top
  local queues = host[H_QUEUES]
  for at = 1, #queues do
    local queue = queues[at]
    if queue[Q_RULE] == rule and queue[Q_COUNT] > 0 and (not top or isBefore(queue, top)) then top = queue end
  end
  return top
end

-- The queue that goes next of each rule that has work.
local NO_TOPS = {}
local function topsOf(host)
  local queues = host[H_QUEUES]
  if #queues == 0 then return NO_TOPS end
  if #queues == 1 then return queues[1][Q_COUNT] > 0 and queues[1][Q_RULE] ~= WAITING_RULE and queues or NO_TOPS end
  local tops, list = {}, {}
  for _, queue in ipairs(queues) do
    if queue[Q_COUNT] > 0 and queue[Q_RULE] ~= WAITING_RULE then
      local top = tops[queue[Q_RULE]]
      if not top or isBefore(queue, top) then tops[queue[Q_RULE]] = queue end
    end
  end
  for _, queue in pairs(tops) do list[#list + 1] = queue end
  return list
end

-- Takes a host out of the sets before its turn, its queues or its clocks change. A delayed one may have become ready since.
local function unplace(host)
  local place = host[H_PLACE]
  if place == NOWHERE then return end
  host[H_PLACE] = NOWHERE
  for _, queue in ipairs(topsOf(host)) do
    local member = memberOf(host, queue)
    addReady[member], addDelayed[member] = nil, nil
    dropReady[#dropReady + 1] = member
    if place >= IN_DELAYED then dropDelayed[#dropDelayed + 1] = member end
  end
end

local parts, dirtyParts = {}, {}
local function partField(queue, part) return pack(">I5I4", queue[Q_NUMBER], part) end

local function readParts(fields)
  local missing = {}
  for _, field in ipairs(fields) do if parts[field] == nil then missing[#missing + 1] = field end end
  for at, ids in ipairs(getMany(KQ, missing)) do parts[missing[at]] = ids or "" end
end

local function partOf(queue, part)
  local field = partField(queue, part)
  if parts[field] == nil then readParts({ field }) end
  return parts[field]
end

-- The number that goes next of a queue that is not empty.
local function keyOf(queue, isLast)
  local tail = queue[Q_TAIL]
  if isLast then
    if tail ~= "" then return (unpack_(">I6", tail, #tail - 5)) end
    local ids = partOf(queue, queue[Q_B] - 1)
    return (unpack_(">I6", ids, #ids - 5))
  end
  if queue[Q_A] == queue[Q_B] then return (unpack_(">I6", tail)) end
  return (unpack_(">I6", partOf(queue, queue[Q_A]), queue[Q_OFF] + 1))
end

-- Puts a host where it belongs by now: for each of its rules among the ready ones, or among those that wait.
local function placeHost(host)
  if host[H_PLACE] ~= NOWHERE then return end
  local tops = topsOf(host)
  for index = 1, #tops do
    local queue = tops[index]
    local rule = ruleOf(queue[Q_RULE])
    local at = goesAt(host, rule)
    if at then
      if rule.polite ~= 1 then queue[Q_KEY] = keyOf(queue, rule.lifo == 1 and queue[Q_START] == 0) end
      local member = memberOf(host, queue)
      local before = host[H_PLACE]
      if at > now then
        addDelayed[member] = at
        if before < IN_DELAYED then host[H_PLACE] = before + IN_DELAYED end
      else
        addReady[member] = true
        if C[RULES] > 1 then joinedRules[queue[Q_RULE]] = true end
        if before % 2 == 0 then host[H_PLACE] = before + IN_READY end
      end
    end
  end
end

local function flushPlaces()
  callMany("ZREM", KR, dropReady)
  callMany("ZREM", KD, dropDelayed)
  local ready, count = {}, 0
  for member in pairs(addReady) do
    ready[count + 1], ready[count + 2] = "0", member
    count = count + 2
  end
  callMany("ZADD", KR, ready)
  -- The server prints each number that it is given; most hosts of a call have the same time.
  local delayed, texts = {}, {}
  count = 0
  for member, at in pairs(addDelayed) do
    local text = texts[at]
    if not text then
      text = string.format("%.17g", at)
      texts[at] = text
    end
    delayed[count + 1], delayed[count + 2] = text, member
    count = count + 2
  end
  callMany("ZADD", KD, delayed)
  addReady, dropReady, addDelayed, dropDelayed = {}, {}, {}, {}
end

-- Rules that have something ready join the shares at their own pass, or at the current one where that is higher.
local function joinShares()
  if C[RULES] > 1 then
    for number in pairs(joinedRules) do
      local member = pack(">H", number)
      if not call("ZSCORE", KG, member) then
        local own = tonumber(call("HGET", KP, "s" .. member) or "0")
        call("ZADD", KG, math.max(own, C[PASS]), member)
      end
    end
  end
  joinedRules = {}
end

--- @rare
local function placeTouched() for _, host in pairs(touched) do placeHost(host) end end

local function placeHosts()
  if next(touched) then placeTouched() end
  flushPlaces()
  joinShares()
end

--- @rare
local function packTouched()
  for name, host in pairs(touched) do editHost(name, packHost(host)) end
end

local function saveHosts()
  placeHosts()
  -- Those that were parsed since come later, and stay.
  if next(touched) then packTouched() end
  callMany("HSET", KH, edited)
  touched, edited, editedCount = {}, {}, 0
end

local function queueOf(host, rule, priority, start)
  local queues = host[H_QUEUES]
  for at = 1, #queues do
    local queue = queues[at]
    if queue[Q_RULE] == rule and queue[Q_PRIORITY] == priority and queue[Q_START] == start then return queue end
  end
  C[NEXT_QUEUE] = C[NEXT_QUEUE] + 1
  local queue = { rule, start, priority, C[NEXT_QUEUE], FIRST_PART, 0, 0, FIRST_PART, 0, 0, "" }
  insert(host[H_QUEUES], queue)
  return queue
end

local function setPart(queue, part, ids)
  local field = partField(queue, part)
  parts[field] = ids
  dirtyParts[field] = true
end

local function saveParts()
  saveTexts(KQ, dirtyParts, parts)
  dirtyParts = {}
end

-- Forgets a queue of a host that is empty, and whatever stale numbers it holds. Many parts go to the trash, and from there a few at a time.
--- @const DROPS_MAX = 64, TRASH_BYTES = 13
local function dropQueue(host, queue)
  if queue[Q_B] - queue[Q_A] > DROPS_MAX then
    call("HSET", KM, "trash", (call("HGET", KM, "trash") or "") .. pack(">I5I4I4", queue[Q_NUMBER], queue[Q_A], queue[Q_B]))
    C[TRASH] = C[TRASH] + 1
  else
    for part = queue[Q_A], queue[Q_B] - 1 do setPart(queue, part, "") end
  end
  for at, each in ipairs(host[H_QUEUES]) do
    if each == queue then table.remove(host[H_QUEUES], at) return end
  end
end

-- Deletes some parts of queues that were dropped; whether there were any.
local function sweepTrash()
  if C[TRASH] == 0 then return 0 end
  local trash = call("HGET", KM, "trash")
  local number, from, to = unpack_(">I5I4I4", trash)
  local last = math.min(to, from + DROPS_MAX)
  local fields = {}
  for part = from, last - 1 do fields[#fields + 1] = pack(">I5I4", number, part) end
  callMany("HDEL", KQ, fields)
  local rest = sub(trash, TRASH_BYTES + 1)
  if last < to then rest = pack(">I5I4I4", number, last, to) .. rest else C[TRASH] = C[TRASH] - 1 end
  if rest == "" then call("HDEL", KM, "trash") else call("HSET", KM, "trash", rest) end
  return 1
end

-- Whole parts of a tail that has grown too long.
local function cutTail(queue, tail)
  local from = 1
  for at = 1, #tail - PART_BYTES, PART_BYTES do
    setPart(queue, queue[Q_B], sub(tail, at, at + PART_BYTES - 1))
    queue[Q_B], from = queue[Q_B] + 1, at + PART_BYTES
  end
  queue[Q_TAIL] = from == 1 and tail or sub(tail, from)
end

-- Adds numbers that are larger than all there are.
local function appendIds(queue, ids, count)
  queue[Q_COUNT] = queue[Q_COUNT] + count
  cutTail(queue, queue[Q_TAIL] .. ids)
end

-- The next number of a queue, taken out; nil: there is none.
local function popId(queue, isLast)
  local first, tail, id = queue[Q_A], queue[Q_TAIL], nil
  if first == queue[Q_B] then
    if tail == "" then return nil end
  elseif isLast and tail == "" then
    -- The end of the last part becomes the tail.
    local part = queue[Q_B] - 1
    local ids = partOf(queue, part)
    local from = math.max(#ids - PART_BYTES, part == first and queue[Q_OFF] or 0)
    tail = sub(ids, from + 1)
    if part == first and from == queue[Q_OFF] then from, queue[Q_OFF] = 0, 0 end
    setPart(queue, part, sub(ids, 1, from))
    if from == 0 then queue[Q_B] = part end
  end
  if isLast then
    queue[Q_TAIL] = sub(tail, 1, -7)
    return (unpack_(">I6", tail, #tail - 5))
  end
  if first == queue[Q_B] then
    queue[Q_TAIL] = sub(tail, 7)
    return (unpack_(">I6", tail))
  end
  local ids = partOf(queue, first)
  id = unpack_(">I6", ids, queue[Q_OFF] + 1)
  queue[Q_OFF] = queue[Q_OFF] + 6
  if queue[Q_OFF] >= #ids then
    setPart(queue, first, "")
    queue[Q_A], queue[Q_OFF] = first + 1, 0
  end
  return id
end

-- Where the numbers that go next are: a part to be read, or nil.
local function nextPart(queue, isLast)
  if queue[Q_A] == queue[Q_B] or isLast and queue[Q_TAIL] ~= "" then return nil end
  return partField(queue, isLast and queue[Q_B] - 1 or queue[Q_A])
end

-- Numbers that go next, up to `most` of those that are at hand.
local function nextIds(queue, isLast, most, list)
  local text, from, part = queue[Q_TAIL], 1, isLast and queue[Q_B] - 1 or queue[Q_A]
  if queue[Q_A] < queue[Q_B] and not (isLast and text ~= "") then
    text = partOf(queue, part)
    if part == queue[Q_A] then from = queue[Q_OFF] + 1 end
  end
  local to = #text
  if isLast then
    for at = to - 5, math.max(from, to - 6 * most + 1), -6 do list[#list + 1] = unpack_(">I6", text, at) end
  else
    for at = from, math.min(to, from + 6 * most - 1), 6 do list[#list + 1] = unpack_(">I6", text, at) end
  end
end

-- Halvings after which a search is over.
--- @const BITS = 32

-- Puts a number where it belongs in a sorted text of numbers.
local function insertIn(text, id)
  local low, high = 0, #text / 6
  for _ = 1, BITS do
    if low >= high then break end
    local middle = floor((low + high) / 2)
    if unpack_(">I6", text, middle * 6 + 1) < id then low = middle + 1 else high = middle end
  end
  return sub(text, 1, low * 6) .. pack(">I6", id) .. sub(text, low * 6 + 1)
end

-- Returns a number to its place among the others. A part that grows too long becomes two at the front and at the end.
local function insertId(queue, id)
  queue[Q_COUNT] = queue[Q_COUNT] + 1
  local tail = queue[Q_TAIL]
  if queue[Q_A] == queue[Q_B] or tail ~= "" and id > unpack_(">I6", tail) then
    cutTail(queue, insertIn(tail, id))
    return
  end
  local low, high = queue[Q_A], queue[Q_B] - 1
  for _ = 1, BITS do
    if low >= high then break end
    local middle = floor((low + high + 1) / 2)
    if unpack_(">I6", partOf(queue, middle)) < id then low = middle else high = middle - 1 end
  end
  local ids = partOf(queue, low)
  if low == queue[Q_A] then
    ids = sub(ids, queue[Q_OFF] + 1)
    queue[Q_OFF] = 0
  end
  ids = insertIn(ids, id)
  if #ids > 2 * PART_BYTES then
    if low == queue[Q_A] then
      setPart(queue, low - 1, sub(ids, 1, PART_BYTES))
      queue[Q_A], ids = low - 1, sub(ids, PART_BYTES + 1)
    elseif low == queue[Q_B] - 1 then
      setPart(queue, queue[Q_B], sub(ids, PART_BYTES + 1))
      queue[Q_B], ids = queue[Q_B] + 1, sub(ids, 1, PART_BYTES)
    end
  end
  setPart(queue, low, ids)
end
