-- SPDX-License-Identifier: MIT
-- Outputs beside E in wgmma: those of elements and of blocks of columns, which a tile has whole.
--   unsupported(op, types, x)  why an op's cannot be so, or nil; x: the operand of 64 rows where nothing is swapped
--   fit(t, op)                 whether a tile has whole rows of blocks
local outputs = require "outputs"
local wgmma_outputs = {}

function wgmma_outputs.unsupported(op, types, x)
  if not op.graph then return end
  if #outputs(op).late > 0 then return "writes nothing beside E that is made of whole rows or columns" end
  if x ~= "a" then return "outputs beside E: rows of A must be the side of 64s" end
  for _, d in ipairs(op.d) do
    if d.kind == "full" then return "outputs beside E: full inputs come when those are made" end
  end
  if types.e.kept then return "outputs beside E that is an integer sum as it is" end
end

function wgmma_outputs.fit(t, op) return not op.graph or t.x_is_a == 1 and t.y % outputs(op).largest == 0 end

return wgmma_outputs
