-- What servers of one name share: their crawls, which of them are there, and what is set for all.
--
--   c:<id>     order, name of the crawl's frontier        t:<name>   a frontier that is being deleted
--   n:<node>   until when it is taken as alive, address   active, its mark, delay · made, deleted: how many crawls so far
--
-- KEYS     1 the hash
-- ARGV     1 now, or "" · 2 what, and what it needs
--   "read"     · "set" field, value, … · "swept" name · "leave" node
--   "join"     node, address, for how many milliseconds
--   "crawl"    id, beginning of names, the id as part of a name or "", most crawls: made where it is missing
--   "delete"   id
-- Returns  { name of the frontier that was made, found or deleted, or "", all fields and values }
local call, key = redis.call, KEYS[1]
local now, what, first = tonumber(ARGV[1]), ARGV[2], ARGV[3]
if not now then
  local time = call("TIME")
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local name = ""
local function nameOf(id)
  local text = call("HGET", key, "c:" .. id)
  return text and string.match(text, "^%d+ (.*)$")
end
local function crawls()
  local count = 0
  for _, field in ipairs(call("HKEYS", key)) do if string.sub(field, 1, 2) == "c:" then count = count + 1 end end
  return count
end

if what == "set" then call("HSET", key, unpack(ARGV, 3))
elseif what == "swept" then call("HDEL", key, "t:" .. first)
elseif what == "leave" then call("HDEL", key, "n:" .. first)
elseif what == "join" then
  local all = call("HGETALL", key)
  for at = 1, #all, 2 do
    if string.sub(all[at], 1, 2) == "n:" and tonumber(string.match(all[at + 1], "^%S+")) <= now then call("HDEL", key, all[at]) end
  end
  call("HSET", key, "n:" .. first, string.format("%.17g %s", now + ARGV[5], ARGV[4]))
elseif what == "delete" then
  name = nameOf(first) or ""
  if name ~= "" then
    call("HDEL", key, "c:" .. first)
    call("HINCRBY", key, "deleted", 1)
    call("HSET", key, "t:" .. name, "")
  end
elseif what == "crawl" then
  name = nameOf(first) or ""
  if name == "" and crawls() < tonumber(ARGV[6]) then
    local made = call("HINCRBY", key, "made", 1)
    -- A name is never reused, so that deleting a frontier cannot hit a newer one.
    local isPlain = ARGV[5] ~= "" and not call("HGET", key, "deleted")
    name = ARGV[4] .. (isPlain and ARGV[5] or ARGV[5] .. "~" .. made)
    call("HSET", key, "c:" .. first, made .. " " .. name)
  end
end
return { name, call("HGETALL", key) }
