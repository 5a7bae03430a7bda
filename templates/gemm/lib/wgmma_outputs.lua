-- SPDX-License-Identifier: MIT
-- Outputs beside E in wgmma: those of elements, and of blocks of columns, rows and columns.
--   unsupported(op, types)     why an op's cannot be so, or nil
--   fit(t, op)                 whether a tile has whole blocks, and a ring for the full inputs of one
--   largest(op)                columns of the largest block, 1 without one; nil without outputs
--   cut(t, op)                 whether halves of a tile have whole blocks
--   span(t, op)                columns of Y that are gone through at once
--   late(t, op)                above 0: there are outputs of whole rows or columns, and a last stage
--   beside_ring(t, op)         bytes of shared memory where warps meet over columns and blocks
--   curves(t, op)              what outputs add to a tile's way out, in halves of a function of the epilogue
--   launch(p, t)               the last stage's
--   workspace(p, t)            bytes that what tiles make of rows and columns takes
local outputs = require "outputs"
local wgmma_outputs = {}

function wgmma_outputs.unsupported(op, types)
  if op.graph and types.e.kept then return "outputs beside E that is an integer sum as it is" end
end

function wgmma_outputs.fit(t, op)
  if not op.graph then return true end
  local largest = outputs(op).largest
  local whole = t.y
  if t.x_is_a == 0 then whole = (largest == 1 or t.blocks == 1) and t.x or 1 end
  if whole % largest > 0 or largest > 128 then return false end
  if t.x_is_a == 0 then return true end
  return t.full_d == 0 or t.strip == 0 or t.d_parts * max(largest // t.strip, 1) < t.depth
end

function wgmma_outputs.largest(op) return op.graph and outputs(op).largest end

function wgmma_outputs.cut(t, op)
  if not op.graph then return true end
  local whole = t.x_is_a == 1 and max(outputs(op).largest, 8) or 8
  return t.blocks % 2 == 0 or t.y // 2 % whole == 0
end

-- 0, or reductions along Y, and 64 times those along X, and 1 more.
function wgmma_outputs.late(t, op)
  local O = op.graph and outputs(op)
  if not O or #O.late == 0 then return 0 end
  local along_y, along_x = #O.rows, #O.cols
  if t.x_is_a == 0 then along_y, along_x = along_x, along_y end
  return along_y + 64 * along_x + 1
end

-- Columns of Y that a lane goes through at once, a quarter of them: where blocks lie along X, and warps wait for one
-- another at each, as many as registers hold beside a thread's sums.
function wgmma_outputs.span(t, op)
  local largest = outputs(op).largest
  if t.x_is_a == 1 or largest == 1 then return max(largest, 8) end
  local span, all = 8, t.y % 16 == 0 and t.y // 2 or t.y -- halves may be two blocks'
  if t.full_d > 0 then all = t.strip end
  for columns = 8, all, 8 do
    if all % columns == 0 and 5 * op.products * t.y // 8 + 2 * columns <= 230 then span = columns end
  end
  return span
end

function wgmma_outputs.beside_ring(t, op)
  local along_x, bytes = max(wgmma_outputs.late(t, op) - 1, 0) // 64, 0
  if along_x > 0 then bytes = bytes + 16 * along_x * t.wg * t.y + 16 end
  if op.graph and t.x_is_a == 0 and outputs(op).largest > 16 then
    bytes = bytes + 8 * wgmma_outputs.span(t, op) * (t.x // 16) + 16
  end
  return bytes
end

-- Measured on an H200 (docs/benchmarks/outputs.md).
function wgmma_outputs.curves(t, op)
  if not op.graph then return 0 end
  return t.x_is_a == 1 and 1 or outputs(op).largest > 1 and 6 or 4
end

local function reductions(t) return max(t.late - 1, 0) % 64, max(t.late - 1, 0) // 64 end

-- A float of each row of X for each tile along Y (for either half, where two blocks may share it), of each row of Y for
-- each 64 along X.
function wgmma_outputs.workspace(p, t)
  local x, y = select(eq(t.x_is_a, 1), p.m, p.n), select(eq(t.x_is_a, 1), p.n, p.m)
  local along_y, along_x = reductions(t)
  local halves = select(all(eq(t.cut, 1), eq(t.blocks % 2, 1)), 2, 1)
  return 4 * p.batch * (along_y * x * ceil_div(y, t.y) * halves + along_x * y * ceil_div(x, t.x) * (t.x // 64))
end

function wgmma_outputs.launch(p, t)
  local along_y, along_x = reductions(t)
  local rows, columns = select(eq(t.x_is_a, 1), along_y, along_x), select(eq(t.x_is_a, 1), along_x, along_y)
  return require "late"(p, min(p.batch, 65535), gt(rows, 0), gt(columns, 0))
end

return wgmma_outputs
