-- SPDX-License-Identifier: MIT
-- How a lane of mfma takes its chunks of OUT elements of E out of a strip of its wave's part.
--   rows      how many rows of chunks a wave (waves that share K: all of them) has at a time
--   chunks    of a lane in a strip
--   waves     so many of those that share K have any
--   ready     whether inputs that all of a lane's chunks share are read before the main loop: not where blocks of K
--             take all registers, nor where parts of a strip differ
--   gathers   whether it reads inputs that each chunk has of its own behind the main loop
--   early     whether it does ahead of it, since it has but one chunk
--   together  how many of its chunks have theirs read before the first is stored: as many as registers take
return function(op, t, strips, stage_parts)
  local held = 0 -- registers of a chunk's inputs
  for _, d in ipairs(op.epilogue_inputs) do
    local line = d.chunked and not d.full or d.kind == "per_tensor"
    if not line then held = held + (d.chunked and max(d.type.bits * t.out // 32, 1) or d.apart and t.out or 1) end
  end
  local ways = { gathers = held > 0, ready = stage_parts == 1 and not op.block }
  ways.rows = 64 * t.wk // (t.stage_f // t.out)
  ways.chunks = max(t.mfma // ways.rows, 1)
  ways.waves = ceil_div(t.mfma * (t.stage_f // t.out), 64)
  ways.early = ways.gathers and ways.ready and strips * ways.chunks == 1 and held <= 32
  if ways.early then ways.gathers = false end
  local few = t.threads > 256 or op.block ~= nil -- 8 waves, and blocks of K, have few registers left
  ways.together = min(few and 1 or 2, ways.chunks)
  while held > 0 and ways.together < ways.chunks and 2 * ways.together * held <= (few and 8 or 32) do
    ways.together = 2 * ways.together
  end
  -- Where a lane's chunks lie in the stage, they do in each 8 rows alike.
  while ways.together < ways.chunks and ways.together * ways.rows % 8 > 0 do ways.together = 2 * ways.together end
  return ways
end
