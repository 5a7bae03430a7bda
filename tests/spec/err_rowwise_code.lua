-- expect: 7:14: error: rowwise "x": body: expected a function, got code
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = code [[ d_x ]],
}
