-- SPDX-License-Identifier: MIT
-- Row-wise kernels for their emulation: rows of a few lanes, of a warp, of several, of several blocks, of a cluster;
-- kept and read again; with blocks of columns, and none.  tests/gpu/instances/rowwise.lua has more, for a GPU.
rowwise "emul_rows" {
  types   = { { x = bf16, y = f8e4m3 } },
  targets = { "sm_90a" },
  d       = { x = full "x", residual = full "x", weight = per_col(f32) },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "y", scale = per_row(f32) },
  body    = function(d, s)
    local sum   = cast(d.x + d.residual, bf16)
    local y     = sum * rsqrt(row_mean(sum * sum) + abs(s.eps) + 0.01) * d.weight
    local scale = max(row_max(abs(y)), 1e-6) / 448
    return { sum = sum, y = y / scale, scale = scale }
  end,
  tiles   = { sm_90a = { simt { lanes = 16, rows = 4, v = 1, resident = 1, split = 1 },
                         simt { lanes = 128, rows = 2, v = 3, resident = 1, split = 1 },
                         simt { lanes = 64, rows = 2, v = 6, resident = 1, split = 1, narrow = 1 },
                         simt { lanes = 32, rows = 2, v = 8, resident = 1, split = 1, narrow = 2 },
                         simt { lanes = 32, rows = 2, v = 2, resident = 0, split = 1 },
                         simt { lanes = 64, rows = 1, v = 2, resident = 0, split = 16 },
                         simt { lanes = 64, rows = 1, v = 2, resident = 1, split = 1, cluster = 4 } } },
}

rowwise "emul_rows_softmax" {
  types   = { { x = bf16 } },
  targets = { "sm_90a" },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d, _, at)
    local x = select(le(at.col, at.row * 8 + 4000), d.x, -1e30)
    local e = exp(x - row_max(x))
    return { y = e / row_sum(e) }
  end,
  tiles   = { sm_90a = { simt { lanes = 64, rows = 1, v = 4, resident = 1, split = 1 },
                         simt { lanes = 128, rows = 1, v = 1, resident = 0, split = 1 },
                         simt { lanes = 64, rows = 1, v = 3, resident = 0, split = 1, narrow = 1 },
                         simt { lanes = 32, rows = 1, v = 8, resident = 1, split = 1, cluster = 8 },
                         simt { lanes = 64, rows = 1, v = 1, resident = 0, split = 1, cluster = 2 } } },
}

-- The same of what all columns share.
rowwise "emul_rows_alike" {
  types   = { { x = f16 } },
  targets = { "sm_90a" },
  d       = { x = full "x", row = per_row(f32) },
  outputs = { y = full "x", many = per_row(f32) },
  body    = function(d)
    local e = exp(d.row - row_max(d.row))
    local many = row_sum(e)
    return { y = select(gt(d.x, 0), d.x, 0.5) * e / many * 100, many = many }
  end,
  tiles   = { sm_90a = { simt { lanes = 64, rows = 1, v = 4, resident = 1, split = 1 },
                         simt { lanes = 128, rows = 1, v = 1, resident = 0, split = 1 } } },
}

-- Compensated sums: exact but for one rounding, wherever they are brought together.  And what is so long a computation
-- that it is kept for the next phase.
rowwise "emul_rows_sums" {
  types   = { { x = f32 } },
  targets = { "sm_90a" },
  sums    = compensated,
  d       = { x = full "x", by = full "x" },
  outputs = { y = full "x", sum = per_row "x", mean = per_row "x", few = per_block("x", 1, 2), many = per_block("x", 1, 64) },
  body    = function(d)
    local mean = row_mean(d.x)
    local x = clamp(d.x - mean, -2, 2)
    local long = x
    for i = 1, 6 do long = long * x * 0.25 + i end
    return { y = long * rsqrt(row_mean(long * long)), sum = row_sum(d.by), mean = mean, few = block_sum(d.x, 2),
             many = block_mean(d.by, 64) }
  end,
  tiles   = { sm_90a = { simt { lanes = 16, rows = 4, v = 1, resident = 1, split = 1 },
                         simt { lanes = 128, rows = 2, v = 3, resident = 1, split = 1 },
                         simt { lanes = 32, rows = 2, v = 2, resident = 0, split = 1 },
                         simt { lanes = 64, rows = 1, v = 2, resident = 0, split = 16 },
                         simt { lanes = 64, rows = 1, v = 2, resident = 1, split = 1, cluster = 4 } } },
}

rowwise "emul_rows_blocks" {
  types   = { { x = f16, y = i8 } },
  targets = { "sm_90a" },
  d       = { x = full "x", row = per_row(f32) },
  outputs = { y = full "y", two = per_block(f32, 1, 2), many = per_block(f32, 1, 64) },
  body    = function(d)
    local most = max(block_max(abs(d.x), 64), 0.01)
    return { y = d.x / most * 100, two = block_sum(d.x, 2) + d.row, many = most }
  end,
  tiles   = { sm_90a = { simt { lanes = 32, rows = 4, v = 2, resident = 0, split = 1 },
                         simt { lanes = 64, rows = 2, v = 2, resident = 0, split = 1, narrow = 2 } } },
}

-- A block's reduction of so long a computation that its elements are kept, which two phases read.
rowwise "emul_rows_long_blocks" {
  types   = { { x = f16 } },
  targets = { "sm_90a" },
  d       = { x = full "x", by = per_col(f32) },
  outputs = { y = full "x", few = per_block(f32, 1, 2), many = per_block(f32, 1, 64) },
  body    = function(d)
    local long = clamp(d.x, -2, 2)
    for i = 1, 6 do long = long * d.by * 0.25 + i end
    local few, many = block_min(long, 2), block_mean(long, 64)
    return { y = long - row_mean(long) + few - many, few = few, many = many }
  end,
  tiles   = { sm_90a = { simt { lanes = 16, rows = 4, v = 1, resident = 1, split = 1 },
                         simt { lanes = 128, rows = 2, v = 3, resident = 1, split = 1 },
                         simt { lanes = 64, rows = 1, v = 2, resident = 0, split = 16 },
                         simt { lanes = 64, rows = 1, v = 2, resident = 1, split = 1, cluster = 4 } } },
}

-- Rows that lie one behind the other are one; with a matrix that is wider they are not.
rowwise "emul_rows_flat" {
  types   = { { x = bf16 } },
  targets = { "sm_90a" },
  d       = { x = full "x", up = full "x", scale = per_tensor(f32) },
  outputs = { y = full "x" },
  body    = function(d) return { y = relu(d.x) * d.up * d.scale } end,
  tiles   = { sm_90a = { simt { lanes = 32, rows = 4, v = 2, resident = 0, split = 1 } } },
}
