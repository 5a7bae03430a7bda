-- expect: 6:14: error: rowwise "x": body has 4 arguments: it gets three, d, s and at
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d, s, at, x) return d.x end,
}
