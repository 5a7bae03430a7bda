-- SPDX-License-Identifier: MIT
-- room(target, each): bytes of shared memory with which a block leaves its unit no room for more than `each` like it.
-- A unit has 1 KiB more than a block may have, each of its blocks takes 1 KiB besides, and all is given out by 128.
return function(target, each)
  return ((target.lds + 1024) // (each + 1) - 1024) // 128 * 128 + 128
end
