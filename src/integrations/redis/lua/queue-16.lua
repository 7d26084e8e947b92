--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit lib-queue
-- Reads queues of the server's protocol, or changes them.
--
-- ARGV     1 now, or "" · 2 what, and what it needs
--   "view"     name                     its settings
--   "change"   name, gap, msgpack       sets qd, qu, ql
--   "back"     name, gap, second        what it gave in that second was not taken: its clock is as before
--   "remove"   name                     a queue without URLs goes
--   "list"     cursor, about how many   a slice of the queues
--   "gap"      cursor, about how many, gap   clocks of a slice follow another default delay
--   "drop"     numbers …                records go, in any state, and their identities
-- Returns  { "Q", … }: of "view", and of "list" after the next cursor, for each queue msgpack { name, order, active, finished, in process, blocked
--          until this second }; of "gap" the next cursor; of all others how many
local what, name, gap = ARGV[2], ARGV[3], tonumber(ARGV[4])

local function viewOf(host)
  local settings = host[H_SETTINGS] or {}
  local active = host[H_LEASED] + (settings.qf or 0)
  for _, queue in ipairs(host[H_QUEUES]) do active = active + queue[Q_COUNT] end
  return cmsgpack.pack({ host[H_NAME], host[H_JOINED], active, settings.qc or 0, host[H_LEASED], settings.qu or 0 })
end

-- A slice of the hosts.
local function eachHost(act)
  local page = call("HSCAN", KH, ARGV[3], "COUNT", ARGV[4])
  for at = 1, #page[2], 2 do
    local each = page[2][at]
    if each ~= "" and byte(each) ~= 254 then
      if not hosts[each] then hosts[each] = parseHost(each, page[2][at + 1]) end
      act(hosts[each])
    end
  end
  return page[1]
end

local function drop(ids)
  local _, _, makesWay = knownWays()
  readRecords(ids)
  local count = 0
  for _, id in ipairs(ids) do
    local bytes = recordOf(id)
    local record = bytes and readRecord(bytes)
    local family = record and familyOf(record.family)
    local field, entry = nil, nil
    if record then field, entry = entryOfRecord(family, record.prefix, id) end
    if field then
      local host, lease, standing = hostOf(ownHost(record, bytes)), handOutOf(id), standingOf(LIVE, id)
      if lease then finishPage(id, (endHandOut(id, lease))) end
      local _, _, makesWay = knownWays()
      makesWay(kindOf(buckets[field], entry), field, entry, true)
      dropEntry(family, field, entry)
      countStanding(host, standing, nil)
      count = count + 1
    end
  end
  C[GENERATION] = C[GENERATION] + 1
  return count
end

if what == "view" or what == "list" then
  moveDueNow()
  if what == "view" then
    local host = hostAt(name)
    return { "Q", host and viewOf(host) or nil }
  end
  local answer = { "Q", "" }
  answer[2] = eachHost(function(host) answer[#answer + 1] = viewOf(host) end)
  return answer
end

workWhenFull()
moveDue()
local answer = 0
if what == "drop" then
  local ids = {}
  for at = 3, #ARGV do ids[at - 2] = unpack_(">I6", ARGV[at]) end
  answer = drop(ids)
elseif what == "gap" then
  local default = tonumber(ARGV[5])
  answer = eachHost(function(host)
    local settings = host[H_SETTINGS]
    if settings and settings.qp and not settings.qd then setQueueClock(host, default) end
  end)
else
  local host = hostAt(name)
  local settings = host and settingsOf(host)
  if host and what == "change" then
    for field, value in pairs(cmsgpack.unpack(ARGV[5])) do settings[field] = value end
    setQueueClock(host, gap)
    answer = 1
  elseif host and what == "back" and settings.qp == tonumber(ARGV[5]) then
    settings.qp = settings.qb
    setQueueClock(host, gap)
    answer = 1
  elseif host and what == "remove" and host[H_LEASED] == 0 and #host[H_QUEUES] == 0 and (settings.qc or 0) + (settings.qf or 0) == 0 then
    unplace(host)
    hosts[name], touched[name] = nil, nil
    call("HDEL", KH, name)
    C[HOSTS] = C[HOSTS] - 1
    answer = 1
  end
end
saveAll()
return { "Q", answer }
