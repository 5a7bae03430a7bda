-- expect: 6:26: error: rowwise "x": body returns 2 values, one is needed: a table { name = value }
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) return d.x, d.x end,
}
