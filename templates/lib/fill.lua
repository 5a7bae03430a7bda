-- SPDX-License-Identifier: MIT
-- An operation's text with its operands put in, operand(k) the one of "%0" for k = 1: "%0 + %1".
return function(text, operand)
  local out, from = "", 1
  while true do
    local at = text:find("%", from)
    if not at then return out .. text:sub(from) end
    out = out .. text:sub(from, at - 1) .. operand(tonumber(text:sub(at + 1, at + 1)) + 1)
    from = at + 2
  end
end
