-- SPDX-License-Identifier: MIT
-- What every schedule of a matrix unit, called `unit` in sentences, computes: true, or nil and why not.  widens: it
-- takes K and V in fp8, too.
local fp8 = { f8e4m3 = true, f8e5m2 = true }

return function(op, types, unit, widens)
  local q, k, v = types.q, types.k, types.v
  local same = k.name == q.name and v.name == q.name
  if q.bytes ~= 2 or not (same or widens and fp8[k.name] and fp8[v.name]) then
    local text = "Q, K and V go to the %s as they are: all f16 or all bf16"
    if widens then text = text .. ", or K and V in f8e4m3 or f8e5m2" end
    return nil, text:format(unit)
  end
  if types.o.bytes == 1 then return nil, "O of one byte is not stored here: f32, f16 or bf16" end
  for _, d in ipairs(op.d) do
    if d.kind == "full" then return nil, d.name .. " is full: scores here take inputs per head, not per key" end
  end
  return true
end
