-- expect: 7:29: error: rowwise "x": body returns no 'scale', which is an output
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s) return { y = d.x * d.weight + s.eps } end,
}
