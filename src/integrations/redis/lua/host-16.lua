--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- Reads a host, or changes its settings.
--
-- ARGV     1 now, or "" · 2 name · 3 "view", or "set" with changes as msgpack: { delay, limit, address, block, held }
-- Returns  { "H", joined, turn, leased, ready at, blocked until, held, settings as msgpack, bytes }
moveDueNow()
local name = ARGV[2]
if ARGV[3] == "set" then
  local change = cmsgpack.unpack(ARGV[4])
  local host = hostOf(name)
  unplace(host)
  if change.delay then settingsOf(host).delay = change.delay end
  if change.limit then settingsOf(host).limit = change.limit end
  if change.address then settingsOf(host).address = keptAddress(change.address) end
  if change.delay or change.limit or change.block or change.held ~= nil then host[H_STEERED] = true end
  if change.block then host[H_BLOCK] = change.block end
  if change.held ~= nil then host[H_HELD] = change.held end
  host[H_KEPT] = true
  saveHosts()
  wake(ARGV[5])
  saveCounters()
end
local function number(value) return string.format("%.17g", value) end
local host = hostAt(name)
if not host then return { "H" } end
return { "H", host[H_JOINED], host[H_TURN], host[H_LEASED], number(host[H_READYAT]), number(host[H_BLOCK]),
  host[H_HELD] and 1 or 0, cmsgpack.pack(host[H_SETTINGS] or { failures = 0, delay = -1, limit = 0, adaptive = -1, admitted = 0 }), number(host[H_BYTES]) }
