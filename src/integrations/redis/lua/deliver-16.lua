--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease lib-admit
-- Takes in children that pages of another partition led to. A parcel that was taken in before changes nothing.
--
-- A process numbers its parcels by itself, in a stream of its own: a partition whose master lost its last calls does not give a number twice.
-- A stream's marks, in the field `i` and its name: every number below the first was taken in or never sent, and those that follow were taken in.
--
-- ARGV     1 now, or "" · 2 channel to wake sleepers, or "" · 3 of the first parcel's stream the least number that is still under way, or ""
--          4 version of the caller's rules · 5 … stream 8 and number 6 of a parcel, its rows as they stand in the outbox
-- Returns  { "D", codes of each parcel, or "" where it was taken in before and nothing is known of its codes }
--          { "V", version }: rows have a rule that this partition does not have yet: nothing is taken in
local parcels, isStrange = {}, false
for at = 6, #ARGV, 2 do
  local rows = cmsgpack.unpack(ARGV[at])
  parcels[at] = rows
  for _, term in ipairs(rows[2]) do isStrange = isStrange or not ruleOf(term[1]).polite end
end
-- Without its terms a rule's hosts would stand where polls under them do not find them.
if isStrange and tonumber(ARGV[4]) ~= C[VERSION] then return { "V", C[VERSION] } end
workWhenFull()
moveDue()
local streams = {}
local function marksOf(stream)
  local marks = streams[stream]
  if marks then return marks end
  local text = call("HGET", KM, "i" .. stream)
  local list = text and cmsgpack.unpack(text) or { 0 }
  marks = { low = list[1], taken = {} }
  for at = 2, #list do marks.taken[list[at]] = true end
  streams[stream] = marks
  return marks
end

local answer = { "D" }
for at = 5, #ARGV, 2 do
  local id = ARGV[at]
  local marks, number = marksOf(sub(id, 1, 8)), unpack_(">I6", id, 9)
  if number < marks.low or marks.taken[number] then insert(answer, answerOf("o" .. id) or "") else
    local codes = admit(parcels[at + 1], math.huge)
    marks.taken[number] = true
    C[RECEIVED] = C[RECEIVED] + 1
    keepAnswer("o" .. id, codes)
    insert(answer, codes)
  end
end
if ARGV[3] ~= "" then
  local marks = marksOf(sub(ARGV[5], 1, 8))
  marks.low = math.max(marks.low, tonumber(ARGV[3]))
end
for stream, marks in pairs(streams) do
  local list = { marks.low }
  for number in pairs(marks.taken) do if number >= marks.low then insert(list, number) end end
  call("HSET", KM, "i" .. stream, cmsgpack.pack(list))
end
if wokeSomething then wake(ARGV[2]) end
saveAll()
return answer
