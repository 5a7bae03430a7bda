-- expect: 6:39: error: rowwise "x": block_max takes 2 operands, got 1
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x / block_max(d.x) end,
}
