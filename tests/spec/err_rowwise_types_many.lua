-- expect: 3:72: error: rowwise "x": types: an op has at most 6 types
rowwise "x" {
  types    = { { a = f32, b = f32, c = f32, e = f32, f = f32, g = f32, h = f32 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
