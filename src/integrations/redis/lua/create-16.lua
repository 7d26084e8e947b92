--- @include lib-keys
-- Creates a partition, or reads the state of an existing one.
--
-- ARGV     1 counters, packed · 2 … further fields of the state and their values
-- Returns  { 0 or 1: made now, version of the format, partitions, mode }
local call = redis.call
local made = 0
if call("EXISTS", KEYS[1]) == 0 then
  made = 1
  local fields = { "k", ARGV[1] }
  for at = 2, #ARGV do fields[#fields + 1] = ARGV[at] end
  makeKeys()
  call("HSET", KEYS[1], unpack(fields))
end
local state = call("HMGET", KEYS[1], "format", "partitions", "mode")
return { made, state[1], state[2], state[3] }
