-- The end of a poll that finds nothing, before all that would hand something out is made: most polls of an idle frontier. What must be
-- done first, what was handed out before (the token is known), and the first poll that finds nothing take the long way.
if not ARGV[7] and C[SLEEPERS] > 0 and C[TRASH] + C[GIVING_UP] == 0
  and (C[PAUSED] > now or ARGV[6] ~= "0" and C[LEASED] >= tonumber(ARGV[6]) or call("ZCARD", KR) == 1)
  and call("HEXISTS", KL, ARGV[5]) == 0 then
  local next, least = "", 1 / 0
  for _, key in ipairs({ KD, KW, KE }) do
    if call("ZCARD", key) > 1 then
      local at = call("ZRANGE", key, "0", "0", "WITHSCORES")[2]
      if tonumber(at) < least then next, least = at, tonumber(at) end
    end
  end
  if least > now then
    if C[PAUSED] > now then next = string.format("%.17g", C[PAUSED]) end
    return { "L", next, C[VERSION], { C[GENERATION], C[PAUSED] > now and 1 or 0, 0, counters }, nowText, nowText, "" }
  end
end
