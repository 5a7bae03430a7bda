-- expect: 6:38: error: rowwise "x": col_max: body goes through one row after the other, and reduces no columns
rowwise "x" {
  types   = { { x = f16 } },
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return d.x / col_max(d.x) end,
}
