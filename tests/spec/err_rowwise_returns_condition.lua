-- expect: 10:14: error: rowwise "x": output 'scale' is a condition: write select(cond, x, y)
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * d.weight + s.eps
    return { y = y,
             scale = lt(y, 0) }
  end,
}
