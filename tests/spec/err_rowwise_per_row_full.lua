-- expect: 10:29: error: rowwise "x": output 'scale' is per_row, but its value varies along columns: d.x does (line 8)
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * d.weight + s.eps
    local scale = abs(y) / 448
    return { y = y / scale, scale = scale }
  end,
}
