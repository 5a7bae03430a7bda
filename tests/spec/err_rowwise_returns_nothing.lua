-- expect: 6:14: error: rowwise "x": body returns nothing: write 'return ...'
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) local y = d.x end,
}
