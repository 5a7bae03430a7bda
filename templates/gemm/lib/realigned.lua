-- SPDX-License-Identifier: MIT
-- Microseconds that copies take of tensors that come, or go (`out`), by tensor map and begin at no multiples of 16
-- bytes, or of what goes: end at none (abi/kiln_realign.h).  A list of { by map (a condition), alignment, bytes of a
-- batch, out }.
return function(p, list)
  local moved, launches = 0, 0
  for _, out in ipairs { false, true } do
    local bytes = 0
    for _, x in ipairs(list) do
      if (x[4] or false) == out then bytes = bytes + select(all(x[1], lt(x[2], 16)), x[3], 0) end
    end
    moved, launches = moved + bytes, launches + select(gt(bytes, 0), 2, 0)
  end
  return launches + 2 * moved * p.batch / 2.8e6
end
