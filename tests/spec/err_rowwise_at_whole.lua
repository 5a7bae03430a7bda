-- expect: 6:44: error: rowwise "x": arithmetic on 'at' as a whole (write at.row)
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d, s, at) return d.x * at end,
}
