-- expect: 7:18: error: rowwise "x": block_max(x, n): n must be a power of two from 2 to 256, got 100
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x" },
  body     = function(d)
    return d.x / block_max(abs(d.x), 100)
  end,
}
