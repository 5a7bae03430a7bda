-- SPDX-License-Identifier: MIT
-- What every schedule of a matrix unit, called `unit` in sentences, computes: true, or nil and why not.
return function(op, types, unit)
  if types.q.bytes ~= 2 or types.k.name ~= types.q.name or types.v.name ~= types.q.name then
    return nil, ("Q, K and V go to the %s as they are: all f16 or all bf16"):format(unit)
  end
  if types.o.bytes == 1 then return nil, "O of one byte is not stored here: f32, f16 or bf16" end
  for _, d in ipairs(op.d) do
    if d.kind == "full" then return nil, d.name .. " is full: scores here take inputs per head, not per key" end
  end
  return true
end
