-- expect: 3:16: error: rowwise "x": types: row 1: names no type
rowwise "x" {
  types    = { {} },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
