-- expect: 6:16: error: rowwise "x": outputs: entry 1 has no name: write name = value
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { "y" },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
