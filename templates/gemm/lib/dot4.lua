-- SPDX-License-Identifier: MIT
-- The function of kiln_device.h that multiplies four bytes of A by four of B and adds to an i32; nil where A and B are
-- no bytes, or summed otherwise.
local byte = { i8 = true, u8 = true }

return function(types)
  local a, b = types.mul_a.name, types.mul_b.name
  if types.acc.name ~= "i32" or not byte[a] or not byte[b] then return nil end
  return ("kiln_dot4_%s_%s"):format(a, b)
end
