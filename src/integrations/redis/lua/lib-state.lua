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

local counters = call("HGET", KM, "k")
if not counters then return redis.error_reply("GONE no such frontier") end
local C = { unpack_(FORMAT, counters) }

-- Milliseconds of the server's clock, or those that a test passes.
local now, started
if ARGV[1] ~= "" then now = tonumber(ARGV[1]) else
  local time = call("TIME")
  now, started = time[1] * 1000 + floor(time[2] / 1000), time[1] * 1000000 + time[2]
end
-- As a command takes it: a number is printed each time that one is given, which takes as long as the rest of a small call.
local nowText = started and string.format("%d", now) or ARGV[1]

