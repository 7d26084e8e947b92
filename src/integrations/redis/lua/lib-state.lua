-- Keys, clock and counters of a partition. Every script begins with this text.
--
-- KEYS, the same sixteen in every script, all in one slot; each always exists, because it holds an empty entry:
--   1 m state     2 s seen      3 h hosts     4 q queue parts   5 c records   6 r ready hosts   7 d delayed hosts   8 w waiting
--   9 l leases   10 e deadlines  11 o outbox  12 b answers     13 n answers before             14 p rules           15 g shares
--  16 x failures
local call = redis.call
local pack, unpack_, sub, byte, find, char = struct.pack, struct.unpack, string.sub, string.byte, string.find, string.char
local insert, concat, floor = table.insert, table.concat, math.floor
--- @const KM = KEYS[1], KS = KEYS[2], KH = KEYS[3], KQ = KEYS[4], KC = KEYS[5], KR = KEYS[6], KD = KEYS[7], KW = KEYS[8]
--- @const KL = KEYS[9], KE = KEYS[10], KO = KEYS[11], KB = KEYS[12], KN = KEYS[13], KP = KEYS[14], KG = KEYS[15], KX = KEYS[16]

-- Counters by place; the text of field `k` of the state is these as doubles.
--- @const NEXT_ID = 1, NEXT_QUEUE = 2, TURN = 3, JOINED = 4, VERSION = 5, RULES = 6
--- @const PUSHED = 7, ACCEPTED = 8, DEFERRED = 9, DUPLICATE = 10, FULL = 11, RETRIED = 12
--- @const EXPIRED = 13, LATE = 14
--- @const PENDING = 15, WAITING = 16, LEASED = 17, DONE = 18, FAILED = 19, FORGOTTEN = 20
--- @const REMOVED = 21, RESTING = 22
--- @const SEEN = 23, LEVEL = 24, SPLIT = 25, SENT = 26, RECEIVED = 27, GENERATION = 28
--- @const STALE = 29, PASS = 30
--- @const PAUSED = 31, ANSWERS_AT = 32, FAMILIES = 33, HOSTS = 34, MAX_DELIVERIES = 35, EPOCH_SEEN = 36
--- @const KEPT = 37, SLEEPERS = 38, TRASH = 39, GIVING_UP = 40, NAMELESS_DONE = 41
--- @const NEXT_FAILURE = 42, FRESH = 43
--- @const COUNTERS = 43
local FORMAT = ">" .. string.rep("d", COUNTERS)

local text = call("HGET", KM, "k")
if not text then return redis.error_reply("GONE no such frontier") end
local C = { unpack_(FORMAT, text) }

-- Milliseconds of the server's clock, or those that a test passes.
local now, started
if ARGV[1] ~= "" then now = tonumber(ARGV[1]) else
  local time = call("TIME")
  now, started = time[1] * 1000 + floor(time[2] / 1000), time[1] * 1000000 + time[2]
end
-- As a command takes it: a number is printed each time that one is given, which takes as long as the rest of a small call.
local nowText = started and string.format("%d", now) or ARGV[1]

-- Microseconds that the script has taken so far; 0: a test's clock, or a server whose clock stands still within a script (7.2 and later).
local function spent()
  if not started then return 0 end
  local time = call("TIME")
  return time[1] * 1000000 + time[2] - started
end

-- A server whose memory is full refuses the first write of a script where that may need memory. What takes away, or must go on to
-- take away later, begins with a write that needs none; what adds links begins with one that may, and is refused whole.
local function workWhenFull() call("HDEL", KL, "none") end
local function refuseWhenFull() call("HSET", KL, "", "") end

-- Wakes processes that found nothing, where there are any; the message names the partition.
local function wake(channel)
  if channel == "" or C[SLEEPERS] == 0 then return end
  C[SLEEPERS] = 0
  call("PUBLISH", channel, KM)
end

local function saveCounters() call("HSET", KM, "k", pack(FORMAT, unpack(C, 1, COUNTERS))) end

-- Steps that a script may still take, so that its work has a bound: every loop that is not a `for` asks before each round.
--- @const STEPS_MAX = 4096
local stepsLeft = STEPS_MAX
local function mayGoOn()
  stepsLeft = stepsLeft - 1
  return stepsLeft > 0
end

-- Calls a command with many arguments, in pieces that fit the stack.
local function callMany(command, key, list)
  local count = #list
  if count == 0 then return end
  for from = 1, count, 4000 do
    call(command, key, unpack(list, from, math.min(count, from + 3999)))
  end
end

-- Writes the fields that have changed; those whose text is empty go.
local function saveTexts(key, changed, texts)
  local sets, drops, count = {}, {}, 0
  for field in pairs(changed) do
    local text = texts[field]
    if text == "" then drops[#drops + 1] = field else
      sets[count + 1], sets[count + 2] = field, text
      count = count + 2
    end
  end
  callMany("HSET", key, sets)
  callMany("HDEL", key, drops)
end

local function getMany(key, fields)
  local count = #fields
  if count == 0 then return {} end
  if count <= 4000 then return call("HMGET", key, unpack(fields)) end
  local all = {}
  for from = 1, count, 4000 do
    for _, value in ipairs(call("HMGET", key, unpack(fields, from, math.min(count, from + 3999)))) do
      insert(all, value)
    end
  end
  return all
end

-- The answer of a batch that was done before; a batch that is sent twice changes nothing.
local function answerOf(batch)
  if batch == "" then return nil end
  return call("HGET", KB, batch) or call("HGET", KN, batch)
end

--- @const ANSWERS_MS = 60000

local function keepAnswer(batch, answer)
  if batch == "" then return end
  if now - C[ANSWERS_AT] > ANSWERS_MS or now < C[ANSWERS_AT] then
    C[ANSWERS_AT] = now
    call("DEL", KN)
    call("RENAME", KB, KN)
    call("HSET", KB, "", "")
  end
  call("HSET", KB, batch, answer)
end

-- Rules by number, read when they are first asked for.
local ruleCache = {}
local function ruleOf(number)
  local rule = ruleCache[number]
  if not rule then
    local packed = call("HGET", KP, pack(">H", number))
    rule = packed and cmsgpack.unpack(packed) or {}
    ruleCache[number] = rule
  end
  return rule
end

-- Counts by rule: pending, leased, done, failed, served.
local ruleCounts = {}
local function countRule(number, place, by)
  local counts = ruleCounts[number]
  if not counts then
    counts = { 0, 0, 0, 0, 0 }
    ruleCounts[number] = counts
  end
  counts[place] = counts[place] + by
end

local function saveRuleCounts()
  for number, counts in pairs(ruleCounts) do
    local field = "c" .. pack(">H", number)
    local before = call("HGET", KP, field)
    if before then
      local a, b, c, d, e = unpack_(">ddddd", before)
      counts = { counts[1] + a, counts[2] + b, counts[3] + c, counts[4] + d, counts[5] + e }
    end
    call("HSET", KP, field, pack(">ddddd", unpack(counts)))
  end
  ruleCounts = {}
end
