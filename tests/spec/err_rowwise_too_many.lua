-- expect: 7:16: error: rowwise "x": outputs.y: an op has at most 12 inputs and outputs
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { a = full "x", b = full "x", c = full "x", dd = full "x", e = full "x", f = full "x",
               g = full "x", h = full "x", i = full "x", j = full "x", k = full "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
