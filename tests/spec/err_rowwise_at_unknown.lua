-- expect: 6:49: error: rowwise "x": unknown place 'column': there are at.row and at.col
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d, s, at) return d.x * at.column end,
}
