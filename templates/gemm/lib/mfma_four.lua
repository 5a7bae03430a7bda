-- SPDX-License-Identifier: MIT
-- How a lane of mfma takes its chunks of four columns out of a strip where outputs stand beside E: the strip is of the
-- whole block, a row's chunks are neighbouring lanes'.  Fields as in mfma_ways.lua; arrays: by node, which of op.graph
-- stand in registers together.
return function(op, t, taken, arrays)
  local held = 0 -- registers of a chunk's inputs
  for _, d in ipairs(taken) do
    local line = d.chunked and not d.full or d.kind == "per_tensor"
    if not line then held = held + (d.chunked and max(d.type.bits // 8, 1) or d.apart and 4 or 1) end
  end
  local strip, ways = t.wm * t.mfma, { gathers = held > 0, ready = not op.block }
  ways.rows = min(t.threads // (t.n // 4), strip)
  ways.chunks = strip // ways.rows
  ways.together = 1
  local few, each = t.threads > 256 or op.block ~= nil, 4 * op.products -- registers of a chunk's values
  for _ in pairs(arrays) do each = each + 4 end
  local most = min(ways.chunks, held > 0 and 32 // held or ways.chunks, (few and 48 or 96) // each)
  while 2 * ways.together <= most do ways.together = 2 * ways.together end
  return ways
end
