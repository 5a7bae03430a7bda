-- SPDX-License-Identifier: MIT
-- Sizes of problems whose tiles' keys blocks share (lib/split.tmpl): rows of a tile are queries of all heads that share
-- K and V.  A schedule's derived values say `ragged` and `window`, 1 where the op has them.
local split = {}

-- Tiles of `rows` that are counted, and those of them that there are, about: of sequences of different lengths each has
-- one.
function split.tiles(p, t, rows)
  local all = p.q * (p.heads // max(p.kv_heads, 1))
  local full = ceil_div(all, rows)
  local counted = select(eq(t.ragged, 1), all // rows + p.batch, full * p.batch)
  local there = select(eq(t.ragged, 1), max(full, min(p.q, p.batch)), full * p.batch)
  return counted * p.kv_heads, max(there * p.kv_heads, 1)
end
-- Keys that a tile's rows may see.
function split.span(p, t) return select(eq(t.window, 1), min(p.kv, p.window + p.q), p.kv) end
-- The workspace has of every row and part: sums for O, the largest score, the sum of exponentials.
function split.workspace(tiles, parts, rows, dimv)
  return select(gt(parts, 1), 16 + 4 * tiles * parts * rows * (dimv + 2), 0)
end
-- The second stage: of each tile as many blocks as it has rows; of sequences of different lengths as they have on
-- average.
split.threads = 256
function split.second(p, t, tiles, parts, rows, early)
  local all = p.q * (p.heads // max(p.kv_heads, 1))
  local each = max(min(rows, select(eq(t.ragged, 1), ceil_div(all, max(p.batch, 1)), all)), 1)
  return { grid = { select(gt(parts, 1), tiles * each, 0) }, block = { split.threads }, early = early }
end

return split
