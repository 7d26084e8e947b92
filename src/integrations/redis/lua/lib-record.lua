-- Records: what was pushed, eight in one field of a hash, by number.
--
--   segment   eight lengths of 3 bytes, then eight records; the field `m` of a segment marks those that are gone
--   record    state 1 · attempts 1 · deliveries 2 · rule 2 · depth 2 · fingerprint's beginning 6 · flags 1
--             [priority 8] [epoch's family 2] [terms of its own 2] [parent 16] [host: length 2, text] [rest: length 4, msgpack] URL
--   terms     attempts allowed, 0: its rule's; 32768 more: its request named its epoch, so that it never comes again by itself;
--             16384 more: it came again by itself, and was not handed out since
--- @const SEGMENT = 8, NAMED_EPOCH = 32768, CAME_AGAIN = 16384
--- @const STATE_PENDING = 0, STATE_WAITING = 1, STATE_FAILED = 3, STATE_RESTING = 4, STATE_KEPT = 5
--- @const HAS_PRIORITY = 1, HAS_FAMILY = 2, HAS_MAX = 4, HAS_PARENT = 8, HAS_HOST = 16, HAS_REST = 32
--- @const IS_START = 64, IS_NAMELESS = 128
local NO_LENGTHS = string.rep("\0", 3 * SEGMENT)

local segments, dirtySegments, masks, dirtyMasks = {}, {}, {}, {}
local function segmentField(id) return pack(">I6", floor(id / SEGMENT)) end

-- Reads the segments of many records, and which of their records are gone.
local function readSegments(ids)
  local asked, fields = {}, {}
  for _, id in ipairs(ids) do
    local field = segmentField(id)
    if segments[field] == nil and not asked[field] then
      asked[field] = true
      fields[#fields + 1] = field
      fields[#fields + 1] = "m" .. field
    end
  end
  local values = getMany(KC, fields)
  for at = 1, #fields, 2 do
    local field = fields[at]
    segments[field] = values[at] or NO_LENGTHS
    if masks[field] == nil then masks[field] = values[at + 1] and byte(values[at + 1]) or 0 end
  end
end

-- The same for the marks alone.
local function readMasks(ids)
  local asked, fields = {}, {}
  for _, id in ipairs(ids) do
    local field = segmentField(id)
    if masks[field] == nil and not asked[field] then
      asked[field] = true
      fields[#fields + 1] = "m" .. field
    end
  end
  for at, value in ipairs(getMany(KC, fields)) do masks[sub(fields[at], 2)] = value and byte(value) or 0 end
end

-- Where a record begins in its segment, and its length.
local function placeIn(segment, index)
  local from = 3 * SEGMENT + 1
  local lengths = { byte(segment, 1, 3 * index + 3) }
  for at = 1, 3 * index, 3 do from = from + lengths[at] * 65536 + lengths[at + 1] * 256 + lengths[at + 2] end
  return from, lengths[3 * index + 1] * 65536 + lengths[3 * index + 2] * 256 + lengths[3 * index + 3]
end

local BITS_OF = { [0] = 1, 2, 4, 8, 16, 32, 64, 128 }
local function isGone(mask, index)
  local bit = BITS_OF[index]
  return mask % (bit + bit) >= bit
end

-- The bytes of a record, or nil where there is none.
local function recordOf(id)
  local field = segmentField(id)
  if segments[field] == nil then readSegments({ id }) end
  local segment, index = segments[field], id % SEGMENT
  if isGone(masks[field], index) then return nil end
  local from, length = placeIn(segment, index)
  if length == 0 then return nil end
  return sub(segment, from, from + length - 1)
end

-- Writes a record in place of what is there.
local function setRecord(id, bytes)
  local field = segmentField(id)
  if segments[field] == nil then readSegments({ id }) end
  local segment, index = segments[field], id % SEGMENT
  local from, length = placeIn(segment, index)
  segments[field] = sub(segment, 1, 3 * index) .. pack(">I3", #bytes) .. sub(segment, 3 * index + 4, from - 1)
    .. bytes .. sub(segment, from + length)
  dirtySegments[field] = true
end

-- Takes a record out: it is marked as gone. Its bytes go with half of its segment, or the whole of it.
local function dropRecord(id)
  local field, index = segmentField(id), id % SEGMENT
  if masks[field] == nil then readMasks({ id }) end
  local mask = masks[field]
  if not isGone(mask, index) then
    masks[field] = mask + BITS_OF[index]
    dirtyMasks[field] = true
  end
end

local function countGone(mask)
  local count = 0
  for index = 0, 7 do if isGone(mask, index) then count = count + 1 end end
  return count
end

-- Adds records behind the last one; returns the number of the first.
local function addRecords(list)
  local first = C[NEXT_ID]
  local count = #list
  local at, id = 1, first
  for _ = 1, count do
    if at > count then break end
    local index = id % SEGMENT
    local fits = math.min(SEGMENT - index, count - at + 1)
    local field = segmentField(id)
    local lengths, bodies = {}, {}
    for each = at, at + fits - 1 do
      lengths[#lengths + 1] = pack(">I3", #list[each])
      bodies[#bodies + 1] = list[each]
    end
    local before = NO_LENGTHS
    if index == 0 then masks[field] = 0 else
      if segments[field] == nil then readSegments({ id }) end
      before = segments[field]
    end
    segments[field] = sub(before, 1, 3 * index) .. concat(lengths) .. sub(NO_LENGTHS, 3 * (index + fits) + 1)
      .. sub(before, 3 * SEGMENT + 1) .. concat(bodies)
    dirtySegments[field] = true
    at, id = at + fits, id + fits
  end
  C[NEXT_ID] = id
  return first
end

-- The segment without the bytes of those that are gone.
local function withoutGone(segment, mask)
  local lengths, bodies = {}, {}
  for index = 0, SEGMENT - 1 do
    local from, length = placeIn(segment, index)
    if isGone(mask, index) then length = 0 end
    lengths[index + 1] = pack(">I3", length)
    bodies[index + 1] = sub(segment, from, from + length - 1)
  end
  return concat(lengths) .. concat(bodies)
end

local function saveSegments()
  local sets, drops, half = {}, {}, {}
  for field in pairs(dirtyMasks) do
    local count = countGone(masks[field])
    if count == SEGMENT then
      drops[#drops + 1] = field
      drops[#drops + 1] = "m" .. field
      dirtySegments[field] = nil
    else
      sets[#sets + 1] = "m" .. field
      sets[#sets + 1] = string.char(masks[field])
      if count == 4 or count == 7 then
        if segments[field] then dirtySegments[field] = true else half[#half + 1] = unpack_(">I6", field) * SEGMENT end
      end
    end
  end
  if #half > 0 then
    readSegments(half)
    for _, id in ipairs(half) do dirtySegments[segmentField(id)] = true end
  end
  for field in pairs(dirtySegments) do
    local segment = segments[field]
    sets[#sets + 1] = field
    sets[#sets + 1] = (masks[field] or 0) > 0 and withoutGone(segment, masks[field]) or segment
  end
  callMany("HSET", KC, sets)
  callMany("HDEL", KC, drops)
  dirtySegments, dirtyMasks = {}, {}
end

-- The fields of a record that decisions need.
local function readRecord(bytes)
  local state, attempts, deliveries, rule, depth = unpack_(">BBHHH", bytes)
  local flags = byte(bytes, 15)
  local record = { state = state, attempts = attempts, deliveries = deliveries, rule = rule, depth = depth,
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
  return pack(">BBH", state, math.min(attempts, 255), math.min(deliveries, 65535)) .. sub(bytes, 5)
end

local function withDepth(bytes, depth) return sub(bytes, 1, 6) .. pack(">H", depth) .. sub(bytes, 9) end
local function withRule(bytes, rule) return sub(bytes, 1, 4) .. pack(">H", rule) .. sub(bytes, 7) end

-- The same bytes, marked as having come again by themselves or not.
local function withAgain(bytes, isAgain)
  local flags = byte(bytes, 15)
  local at = 16 + (flags % 2 >= HAS_PRIORITY and 8 or 0) + (flags % 4 >= HAS_FAMILY and 2 or 0)
  if flags % 8 < HAS_MAX then
    if not isAgain then return bytes end
    return sub(bytes, 1, 14) .. string.char(flags + HAS_MAX) .. sub(bytes, 16, at - 1) .. pack(">H", CAME_AGAIN) .. sub(bytes, at)
  end
  local terms = unpack_(">H", bytes, at)
  if (terms % NAMED_EPOCH >= CAME_AGAIN) == isAgain then return bytes end
  return sub(bytes, 1, at - 1) .. pack(">H", isAgain and terms + CAME_AGAIN or terms - CAME_AGAIN) .. sub(bytes, at + 2)
end

-- The same bytes with another priority.
local function withPriority(bytes, priority)
  local flags = byte(bytes, 15)
  local rest = sub(bytes, flags % 2 >= HAS_PRIORITY and 24 or 16)
  if priority == 0 then return sub(bytes, 1, 14) .. string.char(flags - flags % 2) .. rest end
  return sub(bytes, 1, 14) .. string.char(flags - flags % 2 + 1) .. pack(">d", priority) .. rest
end
