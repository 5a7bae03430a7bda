-- SPDX-License-Identifier: MIT
-- Outputs beside E in wgmma_decode: a row's columns in a tile are chunks of four of neighbouring lanes (four_outputs).
--   unsupported(op, layout)  why an op's cannot be so, or nil
--   fit(n, op)               whether tiles of n columns have such rows, of whole blocks
--   columns(op)              those of the largest block of an op with outputs; 1: it has none
--   late(op)                 0, or reductions of rows and 1 more: there is a last stage
--   workspace(p, t)          bytes of what tiles make of rows
--   launch(p)                that of the last stage
local outputs = require "outputs"
local decode_outputs = {}

function decode_outputs.unsupported(op, layout)
  if not op.graph then return end
  if layout.e ~= "r" then return "outputs beside E: E must be contiguous along N" end
  if #outputs(op).cols > 0 then return "makes nothing of whole columns, of which each block has a few rows" end
end

function decode_outputs.fit(n, op)
  return not op.graph or n <= 128 and n & (n - 1) == 0 and n % outputs(op).largest == 0
end

function decode_outputs.columns(op) return outputs(op).largest end

function decode_outputs.late(op)
  local O = op.graph and outputs(op)
  return O and #O.late > 0 and #O.rows + 1 or 0
end

-- A float of each row for each tile along N.
function decode_outputs.workspace(p, t) return 4 * max(t.late - 1, 0) * p.batch * p.m * ceil_div(p.n, t.n) end

function decode_outputs.launch(p)
  local late = require "late"(p, min(p.batch, 65535), eq(1, 1), eq(1, 0))
  late.early = true
  return late
end

return decode_outputs
