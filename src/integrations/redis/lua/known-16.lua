--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit lib-queue
-- Makes URLs finished, or due at a date, whatever they were and whoever holds them.
--
-- ARGV     1 now, or "" · 2 batch · 3 version of the rules · 4 rows (lib-admit.lua), msgpack, each with terms of its own whose end is its place
--          5 for each row, msgpack: { token of the hand-out that it ends, "": any; the reason for which it failed, "": it did not }
-- Returns  { "K", a letter for each: "k" it is so · "f" it has failed · "s" its hand-out is over: nothing changed · "x" it is refused }
--          { "V", version }: the rules have changed, match again
local done = answerOf(ARGV[2])
if done then return { "K", done } end
if tonumber(ARGV[3]) ~= C[VERSION] then return { "V", C[VERSION] } end
refuseWhenFull()
moveDue()
local rows, facts = cmsgpack.unpack(ARGV[4]), cmsgpack.unpack(ARGV[5])
local terms, prints = rows[2], rows[4]
local family, fields, names = familyOf(0), {}, {}
local function printOf(at) return sub(prints, 16 * at - 15, 16 * at) end
for at = 1, #facts do
  fields[at], names[at] = bucketField(family, printOf(at)), rows[1][unpack_(">H", rows[3], 4 * at - 3)]
end
readBuckets(fields)
readHosts(names)

local letters, standings, changes = {}, {}, {}
for at = 1, #facts do
  local print, token, reason = printOf(at), facts[at][1], facts[at][2]
  local bucket = buckets[fields[at]]
  local entry = entryAt(bucket, print)
  local word = entry and kindOf(bucket, entry)
  local id = word == LIVE and unpack_(">I6", bucket, entry + 18)
  local lease = id and handOutOf(id)
  local before = standings[print]
  if before == nil then before = standingOf(word, id) end
  if token ~= "" and not (lease and lease[L_TOKEN] == token) then letters[at] = "s"
  elseif lease and reason ~= "" then
    local record, host = endHandOut(id, lease)
    failRecord(id, recordOf(id), record, reason)
    letters[at], standings[print] = "f", "f"
    countStanding(host, before, "f")
  else
    if lease then finishPage(id, (endHandOut(id, lease))) end
    letters[at], standings[print] = "k", terms[at][5].k == "v" and "c" or "a"
    changes[#changes + 1] = { at, before, standings[print] }
  end
end

local codes = admit(rows, math.huge, function(finish) return letters[finish] == "k" end)
for index, change in ipairs(changes) do
  local code = byte(codes, index)
  if code == 48 or code == 49 then countStanding(hostOf(names[change[1]]), change[2], change[3]) else letters[change[1]] = "x" end
end
local text = concat(letters)
keepAnswer(ARGV[2], text)
saveAll()
return { "K", text }
