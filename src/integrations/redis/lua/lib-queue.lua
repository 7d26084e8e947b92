-- Queues of the server's protocol (src/server): each is a host, with these settings besides, and its clock is what they say. Times are whole
-- seconds.
--
--   qc, qf   finished URLs, failed ones · qp, qb when it gave URLs last, and when before that · qd its own delay
--   qu       not before this second has passed · ql finished URLs after which it gives no more, 0: any number
--
-- A queue that gave URLs in second t gives the next ones after second t + delay. One that has as many in process as its caller takes at once
-- stands among the delayed hosts at FULL_QUEUE + that number, until a visit ends or a caller comes that takes more.
--- @const SECONDS_MAX = 8000000000000, QUEUES_READ = 64, URLS_ANY = 2147483647

-- The last second in which a queue may not go; `gap`: the delay of those that have none of their own.
local function closedUntil(settings, gap)
  local gave = settings.qp or 0
  return math.max(settings.qu or 0, gave == 0 and 0 or gave + (settings.qd or gap))
end

local function isLimitReached(settings)
  local limit = settings.ql or 0
  return limit > 0 and (settings.qc or 0) >= limit
end

-- Sets the clock of a host as its queue says.
local function setQueueClock(host, gap)
  unplace(host)
  touched[host[H_NAME]] = host
  local settings = settingsOf(host)
  local closed = closedUntil(settings, gap)
  host[H_BLOCK] = closed == 0 and 0 or math.min(closed + 1, SECONDS_MAX) * 1000
  host[H_HELD], host[H_KEPT] = isLimitReached(settings), true
end

-- Queues that were full to a caller who takes less may go.
local function openFullQueues(urls)
  local list = call("ZRANGEBYSCORE", KD, string.format("%.17g", FULL_QUEUE), string.format("(%.17g", FULL_QUEUE + urls), "LIMIT", 0, QUEUES_READ)
  local names = {}
  for at, member in ipairs(list) do names[at] = sub(member, NAME_AT) end
  readHosts(names)
  for _, name in ipairs(names) do
    local host = hostAt(name)
    if host then
      unplace(host)
      touched[name], host[H_BLOCK] = host, 0
    end
  end
end

-- Leases of the next queues that may go, or of the one that is named. `take` makes leases of a host, `count` is how many there are.
--
--   asked   { gap, urls: most of a queue, queues: most of them, name or nil, more: it gives the rest of what it began to give,
--           whole: nothing while URLs that are due have not come to their queues }
--- @rare
local function serveQueues(take, count, most, asked)
  local second, gap, urls, served = floor(now / 1000), asked.gap, asked.urls, 0

  local function serve(host)
    local settings = settingsOf(host)
    if not asked.more then
      if isLimitReached(settings) or closedUntil(settings, gap) >= second then return setQueueClock(host, gap) end
      if urls < URLS_ANY and host[H_LEASED] >= urls then
        unplace(host)
        touched[host[H_NAME]], host[H_BLOCK] = host, FULL_QUEUE + urls
        return
      end
    end
    local before = count()
    take(host[H_NAME], math.min(urls, most - before))
    if count() == before then return end
    served = served + 1
    if not asked.more then settings.qb, settings.qp = settings.qp or 0, second end
    setQueueClock(host, gap)
  end

  if asked.name then
    local host = hostAt(asked.name)
    if host then serve(host) end
    return
  end
  openFullQueues(urls)
  while served < asked.queues and count() < most and mayGoOn() do
    placeHosts()
    local list = call("ZRANGEBYLEX", KR, "-", "(\253", "LIMIT", 0, QUEUES_READ)
    if #list == 0 then return end
    local names = {}
    for at, member in ipairs(list) do names[at] = sub(member, NAME_AT) end
    readHosts(names)
    for _, name in ipairs(names) do
      local host = served < asked.queues and count() < most and hostAt(name)
      if host then serve(host) end
    end
  end
end

-- What an identity is to its queue: "c" finished, "f" failed, "a" anything else that is there.
local function standingOf(word, id)
  if word ~= LIVE then return nil end
  local bytes = recordOf(id)
  local state = bytes and byte(bytes) % 8
  return state == STATE_KEPT and "c" or state == STATE_FAILED and "f" or "a"
end

-- The lease of a record, whoever has it, or nil.
local function handOutOf(id)
  local member = pack(">I6", id)
  local text = call("HGET", KL, member)
  return text and readLease(member, text)
end

-- Ends a lease for the protocol, which asks for no fence; returns its record, and the host.
local function endHandOut(id, lease)
  dropLease(pack(">I6", id), lease[L_TOKEN], lease[L_MARKS])
  saveLeases()
  local bytes = recordOf(id)
  local record = readRecord(bytes)
  local host = hostOf(ownHost(record, bytes))
  record.deliveries = record.deliveries + 1
  C[LEASED] = C[LEASED] - 1
  countRule(record.rule, 2, -1)
  endVisit(host, ruleOf(record.rule), now)
  return record, host
end

-- Counts what has become of a URL of a queue, from one standing to another.
local function countStanding(host, from, to)
  if from == to then return end
  local settings = settingsOf(host)
  local function add(field, standing)
    local by = (to == standing and 1 or 0) - (from == standing and 1 or 0)
    if by ~= 0 then settings[field] = (settings[field] or 0) + by end
  end
  add("qc", "c")
  add("qf", "f")
  host[H_KEPT] = true
  if host[H_HELD] and not isLimitReached(settings) then
    unplace(host)
    host[H_HELD] = false
  end
end
