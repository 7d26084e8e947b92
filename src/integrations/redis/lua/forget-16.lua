--- @include lib-state lib-calls lib-seen lib-record lib-host lib-lease
-- Forgets identities, a slice at a time: of one epoch, or of all. Live records go on without identity.
--
-- ARGV     1 now, or "" · 2 batch · 3 "slice", cursor, how many buckets, number of a family or ""
--          or "nameless": finished pages that had no identity
-- Returns  { "G", next cursor, how many }
local done = answerOf(ARGV[2])
if done then return cmsgpack.unpack(done) end
workWhenFull()
moveDue()
local count = 0
local nameless = {}

local function forgetDone()
  C[DONE] = C[DONE] - 1
  C[FORGOTTEN] = C[FORGOTTEN] + 1
  count = count + 1
end

local function forgetEntry(bucket, at)
  local kind = byte(bucket, at + 16)
  if kind == GONE_DONE then forgetDone()
  elseif kind == LIVE then nameless[#nameless + 1] = unpack_(">I6", bucket, at + 18) end
end

local function loseNames()
  readRecords(nameless)
  for _, id in ipairs(nameless) do
    local bytes = recordOf(id)
    local record = bytes and readRecord(bytes)
    if not record then forgetDone()
    else
      if record.state == STATE_FAILED or record.state == STATE_RESTING or record.state == STATE_KEPT then
        local member = pack(">I6", id)
        if record.state == STATE_FAILED then
          C[FAILED] = C[FAILED] - 1
          countRule(record.rule, 4, -1)
          call("HDEL", KX, member)
        else
          C[DONE] = C[DONE] - 1
          if record.state == STATE_RESTING then C[RESTING] = C[RESTING] - 1 else C[KEPT] = C[KEPT] - 1 end
          call("ZREM", KW, member)
        end
        C[FORGOTTEN] = C[FORGOTTEN] + 1
        count = count + 1
        dropRecord(id)
      elseif not record.isNameless then
        setRecord(id, asNameless(bytes))
        local member = pack(">I6", id)
        local text = call("HGET", KL, member)
        if text then
          local lease = readLease(member, text)
          lease[L_MARKS] = lease[L_MARKS] + 1
          call("HSET", KL, member, packLease(lease))
        end
      end
    end
  end
end

local cursor = "0"
if ARGV[3] == "nameless" then
  count = C[NAMELESS_DONE]
  C[DONE] = C[DONE] - count
  C[FORGOTTEN] = C[FORGOTTEN] + count
  C[NAMELESS_DONE] = 0
else
  local page = call("HSCAN", KS, ARGV[4], "COUNT", ARGV[5])
  cursor = page[1]
  for each = 1, #page[2], 2 do
    local field, bucket = page[2][each], page[2][each + 1]
    if field ~= "" then
      local number = unpack_(">H", field)
      if ARGV[6] == "" or tonumber(ARGV[6]) == number then
        local family = familyOf(number)
        for at = 1, #bucket, ENTRY do forgetEntry(bucket, at) end
        family.count = family.count - #bucket / ENTRY
        buckets[field] = ""
        dirtyBuckets[field] = true
      end
    end
  end
  C[GENERATION] = C[GENERATION] + 1
end
loseNames()
local answer = { "G", cursor, count }
keepAnswer(ARGV[2], cmsgpack.pack(answer))
saveAll()
return answer
