-- SPDX-License-Identifier: MIT
-- What schedules of the matrix unit of Hopper compute: true, or nil and why not.
local takes = {}

local function any(target, op, types, widens)
  if not target.wgmma then return nil, "needs Hopper's matrix unit (sm_90a)" end
  return require "matrix_takes"(op, types, "matrix unit", widens)
end

function takes.prefill(target, op, types, layout)
  local good, why = any(target, op, types)
  if not good then return nil, why end
  if op.page then return nil, "K and V in pages: a block of keys here is one piece of memory" end
  if layout.dim % 64 ~= 0 or layout.dimv % 64 ~= 0 or max(layout.dim, layout.dimv) > 256 then
    local text = "heads of %d and %d elements: both must be 64, 128, 192 or 256"
    return nil, text:format(layout.dim, layout.dimv)
  end
  return true
end

function takes.decode(target, op, types, layout)
  local good, why = any(target, op, types, true)
  if not good then return nil, why end
  local whole = layout.dim % 64 == 0 and layout.dimv % 64 == 0
  if not whole or layout.dim > 576 or (layout.dimv > 256 and layout.dimv ~= 512) then
    local text = "heads of %d and %d elements: of K a multiple of 64 up to 576, of V 64, 128, 192, 256 or 512"
    return nil, text:format(layout.dim, layout.dimv)
  end
  if types.k.bytes == 1 and layout.dimv > 256 then
    return nil, ("V of %d elements in fp8: here it has up to 256"):format(layout.dimv)
  end
  local page = op.page or 64
  if page % 16 ~= 0 or (page % 64 ~= 0 and 64 % page ~= 0) then
    return nil, ("pages of %d keys: 16, 32 or a multiple of 64"):format(page)
  end
  return true
end

return takes
