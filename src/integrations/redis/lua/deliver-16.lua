--- @include lib-state lib-seen lib-record lib-host lib-lease lib-admit
-- Takes in children that pages of another partition led to. A parcel that was taken in before changes nothing.
--
-- ARGV     1 now, or "" · 2 number of the partition that they come from · 3 channel to wake sleepers, or ""
--          4 … number of a parcel, its rows as they stand in the outbox
-- Returns  { "D", codes of each parcel, or "" where it was taken in before and nothing is known of its codes }
workWhenFull()
moveDue()
local source = pack(">H", tonumber(ARGV[2]))
local field = "i" .. source
-- Every number up to `low` was taken in, and those of the list.
local marks = call("HGET", KM, field)
marks = marks and cmsgpack.unpack(marks) or { 0 }
local known = {}
for at = 2, #marks do known[marks[at]] = true end
local low = marks[1]
local answer = { "D" }
for at = 4, #ARGV, 2 do
  local number = tonumber(ARGV[at])
  local batch = "o" .. source .. pack(">I6", number)
  if number <= low or known[number] then insert(answer, answerOf(batch) or "") else
    local codes = admit(cmsgpack.unpack(ARGV[at + 1]), 0)
    known[number] = true
    C[RECEIVED] = C[RECEIVED] + 1
    keepAnswer(batch, codes)
    insert(answer, codes)
  end
end
for _ = 1, #marks + #ARGV do
  if not known[low + 1] then break end
  low = low + 1
  known[low] = nil
end
marks = { low }
for number in pairs(known) do insert(marks, number) end
call("HSET", KM, field, cmsgpack.pack(marks))
if wokeSomething then wake(ARGV[3]) end
saveAll()
return answer
