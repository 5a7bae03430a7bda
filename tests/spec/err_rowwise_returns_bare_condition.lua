-- expect: 6:26: error: rowwise "x": body returns a condition: write select(cond, x, y)
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) return lt(d.x, 0) end,
}
