-- expect: 7:29: error: rowwise "x": body returns one value, and the op has two outputs: write return { scale = ..., y = ... }
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s) return d.x * d.weight + s.eps end,
}
