-- expect: 13:27: error: rowwise "x": check.shapes: shape 1: expected { rows, cols }, got 3 numbers
-- expect: 13:52: error: rowwise "x": check.shapes: shape 3: expected a list of rows, cols, found the key 'rows'
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
  check    = { shapes = { { 1, 2, 3 }, { 4, 5 }, { rows = 1 } } },
}
