-- SPDX-License-Identifier: MIT
-- Ops that take rowwise's `simt` through its corners: rows of a few lanes, of a wave, of a block, of several blocks;
-- kept and read again; every format; many tensors; reductions of reductions.  The shapes: no row of a whole piece, one
-- less and one more than a tile has, fewer rows than a block, few long rows.
local shapes = { { 1, 1 }, { 3, 7 }, { 17, 64 }, { 5, 129 }, { 33, 255 }, { 2, 257 }, { 9, 1024 }, { 4, 1025 },
                 { 3, 2047 }, { 2, 4104 }, { 1, 9001 } }
local function only(list) -- a tile out of lanes x rows, v, resident, split, cluster
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  return function(t)
    return set[("%dx%d %d %d %d %d"):format(t.lanes, t.rows, t.v, t.resident, t.split, t.cluster)] == true
  end
end
local reducing = only { "16x8 1 1 1 1", "16x16 3 1 1 1", "32x1 8 1 1 1", "64x4 2 1 1 1", "128x8 1 1 1 1",
                        "256x1 6 1 1 1", "1024x1 1 1 1 1", "32x16 1 0 1 1", "512x1 3 0 1 1", "32x1 1 0 2 1",
                        "64x1 2 0 16 1", "1024x1 1 0 32 1", "32x1 3 1 1 8", "256x1 1 1 1 2", "128x1 2 0 1 4" }
local lanes = { 16, 32, 64, 128, 256, 512, 1024 }
local sweep = { lanes = lanes, rows = { 1, 4, 8, 16 }, v = { 1, 2, 3, 6, 8 }, resident = { 0, 1 },
                split = { 1, 2, 16, 32 }, cluster = { 1, 2, 4, 8 } }

-- The sum is stored and used; weights of another format than rows.
rowwise "rows_norm" {
  types   = { { x = bf16, y = bf16 }, { x = f32, y = f16 }, { x = f16, y = i8 } },
  targets = { "sm_90a" },
  d       = { x = full "x", residual = full "x", weight = per_col(f32), shift = per_col "x" },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "y" },
  body    = function(d, s)
    local sum = d.x + d.residual
    return { sum = sum, y = sum * rsqrt(row_mean(sum * sum) + abs(s.eps) + 0.01) * d.weight + d.shift }
  end,
  tiles   = { sm_90a = { simt(sweep) }, where = reducing },
  check   = { shapes = shapes },
}

-- Four phases; each kind of reduction; a scale for each row.
rowwise "rows_chain" {
  types   = { { x = bf16, y = f8e4m3 }, { x = f16, y = f8e5m2 } },
  targets = { "sm_90a" },
  d       = { x = full "x", floor_ = per_row(f32), all = per_tensor(f32) },
  outputs = { y = full "y", scale = per_row(f32), least = per_row "x" },
  body    = function(d)
    local centred = d.x - row_mean(d.x)
    local scaled  = centred * rsqrt(row_mean(centred * centred) + 0.5)
    local scale   = max(row_max(abs(scaled)), abs(d.floor_) + 0.01) / 100
    return { y = scaled / scale + d.all, scale = scale, least = row_min(scaled) }
  end,
  tiles   = { sm_90a = { simt(sweep) }, where = reducing },
  check   = { shapes = shapes },
}

-- The sum of exponentials found with the maximum, and apart from it; a mask of rows and columns.
rowwise "rows_softmax" {
  types   = { { x = bf16 }, { x = f32 } },
  targets = { "sm_90a" },
  d       = { x = full "x" },
  scalars = { "scale" },
  outputs = { y = full "x" },
  body    = function(d, s, at)
    local x = select(le(at.col, at.row + 2), d.x * s.scale, -1e30)
    local e = exp(x - row_max(x))
    return { y = e / row_sum(e) }
  end,
  tiles   = { sm_90a = { simt(sweep) }, where = reducing },
  check   = { shapes = shapes },
}

-- Sums as two floats, brought together from everywhere; of products, which are rounded before.
rowwise "rows_sums" {
  types   = { { x = f32, y = bf16 }, { x = bf16, y = f32 } },
  targets = { "sm_90a" },
  sums    = compensated,
  d       = { x = full "x", by = full "x" },
  outputs = { y = full "y", sum = per_row(f32), dot = per_row(f32), few = per_block(f32, 1, 2),
              many = per_block(f32, 1, 64) },
  body    = function(d)
    local centred = d.x - row_mean(d.x)
    return { y = centred * rsqrt(row_mean(centred * centred) + 0.01), sum = row_sum(d.x), dot = row_sum(d.x * d.by),
             few = block_sum(d.by, 2), many = block_mean(d.x, 64) }
  end,
  tiles   = { sm_90a = { simt(sweep) },
              where = function(t) return t.lanes >= 32 and reducing(t) end },
  check   = { shapes = shapes },
}

-- Blocks of what is computed once, for phases that each reduce them.
rowwise "rows_long_blocks" {
  types   = { { x = bf16, y = f32 }, { x = f32, y = f16 } },
  targets = { "sm_90a" },
  d       = { x = full "x", by = per_col(f32) },
  outputs = { y = full "y", two = per_block(f32, 1, 2), many = per_block(f32, 1, 64) },
  body    = function(d)
    local long = clamp(d.x, -2, 2)
    for i = 1, 6 do long = long * d.by * 0.25 + i end
    local two, many = block_min(long, 2), block_mean(long, 64)
    return { y = long - row_mean(long) + two - many + row_max(abs(two)), two = two, many = many }
  end,
  tiles   = { sm_90a = { simt(sweep) },
              where = function(t) return t.lanes >= 32 and reducing(t) end },
  check   = { shapes = shapes },
}

-- Blocks of fewer columns than a piece, of as many, of more; a reduction of the row beside them.
rowwise "rows_blocks" {
  types   = { { x = bf16, y = i8 }, { x = f32, y = f8e4m3 } },
  targets = { "sm_90a" },
  d       = { x = full "x" },
  outputs = { y = full "y", two = per_block(f32, 1, 2), eight = per_block("x", 1, 8), many = per_block(f32, 1, 64) },
  body    = function(d)
    local most = max(block_max(abs(d.x), 64), 0.01)
    return { y = d.x / most * 100, two = block_sum(d.x, 2), eight = block_min(d.x, 8) + row_sum(d.x),
             many = most + block_mean(d.x, 64) }
  end,
  tiles   = { sm_90a = { simt(sweep) },
              where = function(t) return t.lanes >= 32 and reducing(t) end },
  check   = { shapes = shapes },
}

-- As many tensors as there may be.
rowwise "rows_many" {
  types   = { { a = bf16, b = f32, c = i8, e = f8e4m3 } },
  targets = { "sm_90a" },
  d       = { i = full "a", j = full "b", k = full "c", l = full "e",
              m = per_col "c", n = per_col "e", o = per_row "a" },
  outputs = { p = full "a", q = full "b", r = full "c", s = full "e", t = per_row "a" },
  body    = function(d)
    local x = d.i + d.j * 0.5 + d.k * 0.25 + d.l
    return { p = x + d.m, q = x * d.n, r = x - d.o, s = clamp(x, -8, 8), t = row_max(x) }
  end,
  tiles   = { sm_90a = { simt(sweep) },
              where = only { "16x16 1 1 1 1", "64x4 2 1 1 1", "256x1 1 1 1 1", "32x4 1 0 1 1", "64x1 2 0 16 1",
                     "128x1 1 1 1 8" } },
  check   = { shapes = shapes },
}

-- No reduction: parts of rows; an input of a block's own column and row numbers.
rowwise "rows_plain" {
  types   = { { x = bf16, y = bf16 }, { x = i8, y = f32 }, { x = f8e5m2, y = i32 } },
  targets = { "sm_90a" },
  d       = { x = full "x", gate = full "y", bias = per_col(f16), row = per_row "y" },
  outputs = { y = full "y", z = full "x" },
  body    = function(d, _, at)
    return { y = silu(d.gate * 0.01) * d.x + d.bias + at.col - at.row, z = d.x + d.row }
  end,
  tiles   = { sm_90a = { simt { lanes = lanes, rows = { 1, 4, 16 }, v = { 1, 2, 3 }, resident = 0, split = 1 } },
              where = only { "16x16 1 0 1 1", "32x4 3 0 1 1", "128x4 2 0 1 1", "1024x1 1 0 1 1" } },
  check   = { shapes = shapes },
}

-- Quotients that are exact, because whole numbers or conditions come of them, beside one that need not be; blocks of
-- 256 columns of nothing but 32 bits.
rowwise "rows_whole" {
  types   = { { x = f32, y = i32 } },
  targets = { "sm_90a" },
  d       = { x = full "x", by = per_row(f32) },
  outputs = { y = full "y", z = full "x", most = per_block(f32, 1, 256) },
  body    = function(d, _, at)
    local by, most = floor(abs(d.by) * 90) + 1, max(block_max(abs(d.x), 256), 0.01)
    local rest = at.col - by * floor(at.col / by)
    return { y = select(eq(d.x / row_max(d.x), 1), -1, rest), z = d.x / most, most = most }
  end,
  check   = { shapes = shapes },
}
