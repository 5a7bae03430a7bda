-- SPDX-License-Identifier: MIT
-- What the mfma schedule computes: true, or nil and why not.  Others have fewer tiles of that.
return function(target, op, types, layout)
  if not target.mma then return nil, "needs the matrix cores of gfx90a or gfx942" end
  local good, why = require "matrix_takes"(op, types, "matrix cores")
  if not good then return nil, why end
  if op.page and (op.page % 16 ~= 0 or op.page > 65536) then
    return nil, ("pages of %d keys: here they have a multiple of 16, up to 65536"):format(op.page)
  end
  if layout.dim % 32 ~= 0 or layout.dimv % 32 ~= 0 or max(layout.dim, layout.dimv) > 256 then
    local text = "heads of %d and %d elements: both must be multiples of 32, up to 256"
    return nil, text:format(layout.dim, layout.dimv)
  end
  return true
end
