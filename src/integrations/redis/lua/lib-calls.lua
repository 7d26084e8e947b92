-- What scripts have in common: calls of many values, answers of batches, steps, rules.

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

-- While a process waits, each change has a moment of its own, so that equal counters are those of an equal partition (idle-1.lua).
local function saveCounters()
  if C[SLEEPERS] > 0 then C[SLEEPERS] = started or C[SLEEPERS] + 1 end
  counters = pack(FORMAT, unpack(C, 1, COUNTERS))
  call("HSET", KM, "k", counters)
end

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
