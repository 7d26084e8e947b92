-- Makes the keys of a partition, each with an empty entry.
local function makeKeys()
  for place, kind in ipairs({ "h", "h", "h", "h", "h", "l", "z", "z", "h", "z", "h", "h", "h", "h", "z", "h" }) do
    if kind == "h" then redis.call("HSET", KEYS[place], "", "")
    elseif kind == "l" then redis.call("ZADD", KEYS[place], 0, "\255")
    else redis.call("ZADD", KEYS[place], "+inf", "") end
  end
end
