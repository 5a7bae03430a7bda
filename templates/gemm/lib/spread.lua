-- SPDX-License-Identifier: MIT
-- Shared memory that a block asks for, so that a unit holds no more blocks of clusters than each has to: the device
-- fills a unit with them before it takes the next.  Sixteen clusters of eight blocks, of which a unit may hold three,
-- took 44 us on half of an H200's units, and 35 on all (docs/mma.md).
local fitting = require "clusters"

return function(p, t, target, blocks, s)
  local units = max(p.units, 1)
  local each = ceil_div(blocks, max(fitting(units, s) // s * s, 1))
  local apart = ((target.lds + 1024) // (each + 1) - 1024) // 128 * 128 + 128
  return select(all(gt(s, 1), lt(each, t.blocks)), max(t.lds_bytes, apart), t.lds_bytes)
end
