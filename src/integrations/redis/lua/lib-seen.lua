-- Seen identities: buckets of 24-byte entries in a hash that grows by linear hashing.
--
--   entry   fingerprint 16 · kind 1 (0 live, 1 done, 2 removed) · depth 1 · live: record 6; else depth 2, attempts 2, nothing 2
--           A live entry whose record is gone is of a page that was done at its first attempt: most pages end without a write here
--   bucket  field = family 2 · number 4; family 0 is the epoch `forever`, each other epoch has its own
--
-- A family of n buckets holds about 6 entries in each; insertions beyond that split a bucket, so that no call moves many. Buckets are small
-- because Lua hashes every byte of every string that it makes.
--- @const ENTRY = 24, PER_BUCKET = 6, SPLITS_MAX = 64
--- @const LIVE = 0, GONE_DONE = 1, GONE_REMOVED = 2

local families = {}
local function familyOf(number)
  local family = families[number]
  if family then return family end
  if number == 0 then
    family = { number = 0, level = C[LEVEL], split = C[SPLIT], count = C[SEEN] }
  else
    local packed = call("HGET", KM, "f" .. pack(">H", number))
    local level, split, count = 0, 0, 0
    if packed then level, split, count = unpack_(">ddd", packed) end
    family = { number = number, level = level, split = split, count = count }
  end
  family.size = 2 ^ family.level
  family.name = pack(">H", number)
  family.before = family.count
  families[number] = family
  return family
end

local function bucketField(family, fingerprint)
  local hash = unpack_(">I4", fingerprint)
  local bucket = hash % family.size
  if bucket < family.split then bucket = hash % (family.size * 2) end
  return pack(">HI4", family.number, bucket)
end

local buckets, dirtyBuckets = {}, {}
-- Reads the buckets of many fields at once.
local function readBuckets(fields)
  local missing = {}
  for at = 1, #fields do
    local field = fields[at]
    if buckets[field] == nil then
      buckets[field] = ""
      missing[#missing + 1] = field
    end
  end
  local values = getMany(KS, missing)
  for at = 1, #missing do buckets[missing[at]] = values[at] or "" end
end

-- Where an entry begins in a bucket, or nil.
local function entryAt(bucket, fingerprint)
  local from = find(bucket, fingerprint, 1, true)
  for _ = 1, #bucket do
    if not from or (from - 1) % ENTRY == 0 then return from end
    from = find(bucket, fingerprint, from + 1, true)
  end
end

local function liveWord(id, depth) return pack(">BBI6", LIVE, depth < 255 and depth or 255, id) end
local function goneWord(kind, depth, attempts)
  return pack(">BBHHH", kind, depth < 255 and depth or 255, math.min(depth, 65535), math.min(attempts, 1023), 0)
end

local function setWord(field, at, word)
  local bucket = buckets[field]
  buckets[field] = sub(bucket, 1, at + 15) .. word .. sub(bucket, at + ENTRY)
  dirtyBuckets[field] = true
end

-- The bucket of a record of which only the beginning of its fingerprint is known, and where its entry begins there; nil: it has none.
local function entryOfRecord(family, prefix, id)
  local field, member = bucketField(family, prefix), pack(">I6", id)
  if buckets[field] == nil then readBuckets({ field }) end
  local bucket = buckets[field]
  local from = find(bucket, prefix, 1, true)
  for _ = 1, #bucket do
    if not from then return end
    if (from - 1) % ENTRY == 0 and byte(bucket, from + 16) == LIVE and sub(bucket, from + 18, from + 23) == member then return field, from end
    from = find(bucket, prefix, from + 1, true)
  end
end

local function dropEntry(family, field, at)
  local bucket = buckets[field]
  buckets[field] = sub(bucket, 1, at - 1) .. sub(bucket, at + ENTRY)
  dirtyBuckets[field] = true
  family.count = family.count - 1
end

local function splitOne(family)
  local low, doubled = family.split, family.size * 2
  local lowField, highField = pack(">HI4", family.number, low), pack(">HI4", family.number, low + family.size)
  local bucket = buckets[lowField]
  -- Entries that go the same way and stand together are cut as one.
  local stays, moves, from, stayed = "", "", 1, true
  -- Of the hashes of a bucket one more bit decides.
  local byteAt, half = 3 - floor(family.level / 8), 2 ^ (family.level % 8)
  for at = 1, #bucket + 1, ENTRY do
    local stay = at < #bucket and byte(bucket, at + byteAt) % (2 * half) < half
    if at > #bucket or stay ~= stayed then
      if stayed then stays = stays .. sub(bucket, from, at - 1) else moves = moves .. sub(bucket, from, at - 1) end
      from, stayed = at, stay
    end
  end
  buckets[highField] = moves
  if moves ~= "" then buckets[lowField], dirtyBuckets[lowField], dirtyBuckets[highField] = stays, true, true end
  family.split = low + 1
  if family.split == family.size then
    family.level, family.split, family.size = family.level + 1, 0, doubled
  end
end

--- @rare
local function saveSeen()
  for _, family in pairs(families) do
    local wanted = family.count > family.before and math.ceil(family.count / PER_BUCKET) - family.size - family.split or 0
    wanted = math.min(wanted, SPLITS_MAX)
    -- Of a small family more than once through all buckets: long ones are copied with each entry that joins them.
    for _ = 1, SPLITS_MAX do
      local splits = math.min(wanted, family.size - family.split)
      if splits <= 0 then break end
      local low = {}
      for each = 1, splits do low[each] = pack(">HI4", family.number, family.split + each - 1) end
      readBuckets(low)
      for _ = 1, splits do splitOne(family) end
      wanted = wanted - splits
    end
    if family.number == 0 then
      C[LEVEL], C[SPLIT], C[SEEN] = family.level, family.split, family.count
    else
      C[EPOCH_SEEN] = C[EPOCH_SEEN] + family.count - family.before
      call("HSET", KM, "f" .. family.name, pack(">ddd", family.level, family.split, family.count))
    end
    family.before = family.count
  end
  saveTexts(KS, dirtyBuckets, buckets)
  dirtyBuckets = {}
end
