-- SPDX-License-Identifier: MIT
-- Outputs beside E in wgmma: those of elements, and of blocks of columns, rows and columns.
--   unsupported(op, types, x)  why an op's cannot be so, or nil; x: the operand of 64 rows where nothing is swapped
--   fit(t, op)                 whether a tile has whole rows of blocks, and a ring for the full inputs of one
--   largest(op)                columns of the largest block, 1 without one; nil without outputs
--   cut(t, op)                 whether halves of a tile have whole blocks
--   late(t, op)                above 0: there are outputs of whole rows or columns, and a last stage
--   beside_ring(t, op)         bytes of shared memory where warps meet over columns
--   workspace(p, t)            bytes that what tiles make of rows and columns takes
local outputs = require "outputs"
local wgmma_outputs = {}

function wgmma_outputs.unsupported(op, types, x)
  if not op.graph then return end
  if x ~= "a" and outputs(op).largest > 1 then
    return "outputs of blocks of columns: rows of A must be the side of 64s"
  end
  if types.e.kept then return "outputs beside E that is an integer sum as it is" end
end

function wgmma_outputs.fit(t, op)
  if not op.graph then return true end
  local largest = outputs(op).largest
  if largest > 1 and (t.x_is_a == 0 or t.y % largest > 0) then return false end
  return t.full_d == 0 or t.strip == 0 or t.d_parts * max(largest // t.strip, 1) < t.depth
end

function wgmma_outputs.largest(op) return op.graph and outputs(op).largest end

function wgmma_outputs.cut(t, op)
  return not op.graph or t.blocks % 2 == 0 or t.y // 2 % max(outputs(op).largest, 8) == 0
end

-- 0, or reductions along Y, and 64 times those along X, and 1 more.
function wgmma_outputs.late(t, op)
  local O = op.graph and outputs(op)
  if not O or #O.late == 0 then return 0 end
  local along_y, along_x = #O.rows, #O.cols
  if t.x_is_a == 0 then along_y, along_x = along_x, along_y end
  return along_y + 64 * along_x + 1
end

function wgmma_outputs.beside_ring(t, op)
  local along_x = max(wgmma_outputs.late(t, op) - 1, 0) // 64
  return along_x > 0 and 16 * along_x * t.wg * t.y + 16 or 0
end

-- A float of each row of X for each tile along Y (for either half, where two blocks may share it), of each row of Y for
-- each 64 along X.
function wgmma_outputs.workspace(p, t)
  local x, y = select(eq(t.x_is_a, 1), p.m, p.n), select(eq(t.x_is_a, 1), p.n, p.m)
  local along_y, along_x = max(t.late - 1, 0) % 64, max(t.late - 1, 0) // 64
  local halves = select(all(eq(t.cut, 1), eq(t.blocks % 2, 1)), 2, 1)
  return 4 * p.batch * (along_y * x * ceil_div(y, t.y) * halves + along_x * y * ceil_div(x, t.x) * (t.x // 64))
end

return wgmma_outputs
