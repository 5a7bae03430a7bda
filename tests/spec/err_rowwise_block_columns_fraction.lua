-- expect: 6:39: error: rowwise "x": block_max(x, n): n must be a power of two from 2 to 256, got 64.5
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d) return d.x / block_max(d.x, 64.5) end,
}
