--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- What is known of identities.
--
-- ARGV     1 now, or "" · 2 … fingerprint, epoch's name or "" for forever
-- Returns  { "F", for each { state, record's number, record, its lease's token and deadline, due at, failure, attempts, depth } or "" }
--          state: p pending · w waiting · l leased · f failed · z resting · k put as finished · d done · r removed
moveDueNow()
local answer = { "F" }
for at = 2, #ARGV, 2 do
  local number = 0
  if ARGV[at + 1] ~= "" then number = tonumber(call("HGET", KM, "e:" .. ARGV[at + 1]) or "-1") end
  local found = ""
  if number >= 0 then
    local field = bucketField(familyOf(number), ARGV[at])
    readBuckets({ field })
    local bucket = buckets[field]
    local from = entryAt(bucket, ARGV[at])
    if from then
      local kind = byte(bucket, from + 16)
      if kind == LIVE and kindOf(bucket, from) == GONE_DONE then
        found = { "d", "", "", "", "", "", 1, byte(bucket, from + 17) }
      elseif kind ~= LIVE then
        local depth, attempts = unpack_(">HH", bucket, from + 18)
        found = { kind == GONE_DONE and "d" or "r", "", "", "", "", "", attempts, depth }
      else
        local id = unpack_(">I6", bucket, from + 18)
        local member = pack(">I6", id)
        local bytes = recordOf(id)
        local lease = call("HGET", KL, member) or ""
        if lease ~= "" then lease = sub(lease, 1, 8) .. pack(">d", deadlineOf(lease)) end
        local record = readRecord(bytes)
        local state = ({ [0] = "p", "w", "p", "f", "z", "k" })[record.state]
        if lease ~= "" then state = "l" end
        local due = call("ZSCORE", KW, member) or ""
        local failure = state == "f" and call("HGET", KX, member) or ""
        found = { state, member, bytes, lease, due, failure, record.attempts, record.depth }
      end
    end
  end
  insert(answer, found)
end
return answer
