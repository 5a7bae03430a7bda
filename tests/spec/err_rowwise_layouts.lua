-- expect: 4:3: error: rowwise "x": unknown field 'layouts'; fields are types, sums, d, scalars, outputs, body, tiles, targets and check
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  layouts  = { "r" },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
