-- expect: 6:38: error: per_block: a block has 1 row, got the number 2
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_block(f32, 2, 128) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
