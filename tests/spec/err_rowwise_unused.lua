-- expect: 5:30: error: rowwise "x": input 'weight' is never used
-- expect: 6:16: error: rowwise "x": scalar 'eps' is never used
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d) return { y = d.x, scale = 1 } end,
}
