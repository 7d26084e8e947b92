-- Records: what was pushed, each in a field of a hash, by number.
--
--   record    state, and 8 for each 256 attempts 1 · attempts beyond those 1 · deliveries 2 · rule 2 · depth 2 · fingerprint's beginning 6 · flags 1
--             [priority 8] [epoch's family 2] [terms of its own 2] [parent 16] [host: length 2, text] [rest: length 4, msgpack] URL
--   terms     attempts allowed, 0: its rule's; 32768 more: its request named its epoch, so that it never comes again by itself;
--             16384 more: it came again by itself, and was not handed out since
--- @const NAMED_EPOCH = 32768, CAME_AGAIN = 16384
--- @const STATE_PENDING = 0, STATE_WAITING = 1, STATE_FAILED = 3, STATE_RESTING = 4, STATE_KEPT = 5
--- @const HAS_PRIORITY = 1, HAS_FAMILY = 2, HAS_MAX = 4, HAS_PARENT = 8, HAS_HOST = 16, HAS_REST = 32
--- @const IS_START = 64, IS_NAMELESS = 128

-- Records by number, false where there is none; those that have changed; and fields and values of new ones.
local records, dirtyRecords, newRecords = {}, {}, {}
-- The number of the first new one.
local firstNew = C[NEXT_ID]

-- Reads many records at once.
local function readRecords(ids)
  local missing, fields = {}, {}
  for at = 1, #ids do
    local id = ids[at]
    if records[id] == nil and id < firstNew then
      local count = #fields + 1
      records[id], missing[count], fields[count] = false, id, pack(">I6", id)
    end
  end
  local values = getMany(KC, fields)
  for at = 1, #missing do records[missing[at]] = values[at] end
end

-- The bytes of a record, or false where there is none.
local function recordOf(id)
  local bytes = records[id]
  if bytes ~= nil then return bytes end
  bytes = id >= firstNew and newRecords[2 * (id - firstNew) + 2] or call("HGET", KC, pack(">I6", id))
  records[id] = bytes
  return bytes
end

-- What an entry of a bucket has become (lib-seen.lua).
local function kindOf(bucket, at)
  local kind = byte(bucket, at + 16)
  if kind == LIVE and not recordOf(unpack_(">I6", bucket, at + 18)) then return GONE_DONE end
  return kind
end

-- Writes a record in place of what is there.
local function setRecord(id, bytes)
  records[id] = bytes
  dirtyRecords[id] = true
end

local function dropRecord(id)
  records[id] = false
  dirtyRecords[id] = true
end

-- Adds a record behind the last one; returns its number as text.
local function addRecord(bytes)
  local id = C[NEXT_ID]
  local member = pack(">I6", id)
  C[NEXT_ID] = id + 1
  local count = 2 * (id - firstNew)
  newRecords[count + 1], newRecords[count + 2] = member, bytes
  return member
end

-- Records that were added come first: some of them have changed since, or are gone.
local function saveRecords()
  callMany("HSET", KC, newRecords)
  local sets, drops = {}, {}
  for id in pairs(dirtyRecords) do
    local bytes = records[id]
    if bytes then
      local count = #sets
      sets[count + 1], sets[count + 2] = pack(">I6", id), bytes
    else drops[#drops + 1] = pack(">I6", id) end
  end
  callMany("HSET", KC, sets)
  callMany("HDEL", KC, drops)
  dirtyRecords, newRecords, firstNew = {}, {}, C[NEXT_ID]
end

-- The fields of a record that decisions need.
local function readRecord(bytes)
  local head, attempts, deliveries, rule, depth = unpack_(">BBHHH", bytes)
  local flags, state = byte(bytes, 15), head % 8
  local record = { state = state, attempts = attempts + (head - state) * 32, deliveries = deliveries, rule = rule, depth = depth,
    prefix = sub(bytes, 9, 14), flags = flags, priority = 0, family = 0, max = 0 }
  local at = 16
  if flags % 2 >= HAS_PRIORITY then record.priority = unpack_(">d", bytes, at) at = at + 8 end
  if flags % 4 >= HAS_FAMILY then record.family = unpack_(">H", bytes, at) at = at + 2 end
  if flags % 8 >= HAS_MAX then
    local terms = unpack_(">H", bytes, at)
    record.isOnce, record.isAgain = terms >= NAMED_EPOCH, terms % NAMED_EPOCH >= CAME_AGAIN and deliveries == 0
    record.max, at = terms % CAME_AGAIN, at + 2
  end
  if flags % 16 >= HAS_PARENT then at = at + 16 end
  if flags % 32 >= HAS_HOST then
    local length = unpack_(">H", bytes, at)
    record.host = sub(bytes, at + 2, at + 1 + length)
    at = at + 2 + length
  end
  record.restAt = at
  if flags % 64 >= HAS_REST then at = at + 4 + unpack_(">I4", bytes, at) end
  record.isStart = flags % 128 >= IS_START and 1 or 0
  record.isNameless = flags >= IS_NAMELESS
  record.urlAt = at
  return record
end

-- The host that a record's URL is of, or what stands for it.
local function ownHost(record, bytes)
  if record.host then return record.host end
  return string.match(sub(bytes, record.urlAt), "^%a+://([^/?#]*)")
end

-- The same bytes with another state, attempts, deliveries.
local function withState(bytes, state, attempts, deliveries)
  local low = math.min(attempts, 8191) % 256
  return pack(">BBH", state + (math.min(attempts, 8191) - low) / 32, low, math.min(deliveries, 65535)) .. sub(bytes, 5)
end

local function withDepth(bytes, depth) return sub(bytes, 1, 6) .. pack(">H", depth) .. sub(bytes, 9) end
local function withRule(bytes, rule) return sub(bytes, 1, 4) .. pack(">H", rule) .. sub(bytes, 7) end

-- The same bytes, marked as having come again by themselves or not.
local function withAgain(bytes, isAgain)
  local flags = byte(bytes, 15)
  local at = 16 + (flags % 2 >= HAS_PRIORITY and 8 or 0) + (flags % 4 >= HAS_FAMILY and 2 or 0)
  if flags % 8 < HAS_MAX then
    if not isAgain then return bytes end
    return sub(bytes, 1, 14) .. char(flags + HAS_MAX) .. sub(bytes, 16, at - 1) .. pack(">H", CAME_AGAIN) .. sub(bytes, at)
  end
  local terms = unpack_(">H", bytes, at)
  if (terms % NAMED_EPOCH >= CAME_AGAIN) == isAgain then return bytes end
  return sub(bytes, 1, at - 1) .. pack(">H", isAgain and terms + CAME_AGAIN or terms - CAME_AGAIN) .. sub(bytes, at + 2)
end

-- The same bytes with another priority.
local function withPriority(bytes, priority)
  local flags = byte(bytes, 15)
  local rest = sub(bytes, flags % 2 >= HAS_PRIORITY and 24 or 16)
  if priority == 0 then return sub(bytes, 1, 14) .. char(flags - flags % 2) .. rest end
  return sub(bytes, 1, 14) .. char(flags - flags % 2 + 1) .. pack(">d", priority) .. rest
end
