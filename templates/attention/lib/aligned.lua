-- SPDX-License-Identifier: MIT
-- Problem rules of a schedule that moves operands by 16 bytes: one for each of `names`, then `others`.
return function(names, others)
  local rules = {}
  for _, name in ipairs(names) do
    local sentence = name:upper() .. "'s address or a stride of it is no multiple of 16 bytes"
    rules[#rules + 1] = { sentence, function(p) return ge(p["align_" .. name], 16) end }
  end
  for _, rule in ipairs(others) do rules[#rules + 1] = rule end
  return rules
end
