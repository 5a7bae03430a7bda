-- expect: 6:38: error: rowwise "x": undeclared input 'z'
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d, s) return d.z end,
}
