-- expect: 9:62: error: rowwise "x": body returns no 'scale', which is an output
-- expect: 9:78: error: rowwise "x": body returns 'scael', which is no output (did you mean 'scale'?)
-- expect: 9:98: error: rowwise "x": body returns 'sum', which is no output: outputs are scale and y
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s) local y = d.x * d.weight + s.eps return { y = y, scael = row_max(y), sum = y } end,
}
