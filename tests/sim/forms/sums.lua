-- Compensated sums of rows and of blocks, exact but for one rounding: of values, of products, which are rounded before,
-- and of what a sum before has made.
rowwise "forms_sums" {
  types   = { { x = f32, y = bf16 } },
  sums    = compensated,
  d       = { x = full "x", by = full "x" },
  outputs = { sum = per_row "x", mean = per_row "x", dot = per_row "x", many = per_block("x", 1, 64),
              few = per_block("x", 1, 4), y = full "y" },
  body    = function(d)
    local mean = row_mean(d.x)
    local centred = d.x - mean
    return { sum = row_sum(d.x), mean = mean, dot = row_sum(d.x * d.by), many = block_mean(d.by * d.by, 64),
             few = block_sum(d.x, 4), y = centred * rsqrt(row_mean(centred * centred) + 0.01) }
  end,
  tiles   = { gfx942 = { simt { lanes = 64, rows = 4, v = 2, resident = 1, split = 1 },
                         simt { lanes = 256, rows = 1, v = 2, resident = 0, split = 1 },
                         simt { lanes = 128, rows = 1, v = 1, resident = 0, split = 16 } } },
}
