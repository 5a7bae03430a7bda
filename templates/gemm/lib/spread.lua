-- SPDX-License-Identifier: MIT
-- Shared memory that a block asks for, so that a unit holds no more blocks of clusters than each has to: the device
-- fills a unit with them before it takes the next.  Sixteen clusters of eight blocks, of which a unit may hold three,
-- took 44 us on half of an H200's units, and 35 on all (docs/mma.md).  What is asked for is taken from the first-level
-- cache: not where each unit has `held` blocks or more.
local room, spots = require "room", require "spots"

return function(p, t, target, blocks, s, held)
  local each = ceil_div(blocks, spots(max(p.units, 1), s))
  return select(all(gt(s, 1), lt(each, held)), max(t.lds_bytes, room(target, each)), t.lds_bytes)
end
