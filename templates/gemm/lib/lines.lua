-- SPDX-License-Identifier: MIT
-- Microseconds that one unit's share of L2's bandwidth takes for so many bytes of rows at multiples of `align` bytes:
-- by lines of 128 bytes, of which rows that begin inside of them touch two, which cost 1.75 times one, and twice where
-- they are five sectors of 32 bytes.  Fitted to times of an H200 (docs/benchmarks/tiles.md).
return function(align, bytes, target)
  local lines = select(lt(align, 16), 1, select(lt(align, 32), 2, select(lt(align, 128), 1.75, 1)))
  return bytes / 128 * lines * 8.3e-6 * target.units
end
