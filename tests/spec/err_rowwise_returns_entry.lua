-- expect: 7:26: error: rowwise "x": body: entry 1 has no name: write name = value
-- expect: 7:26: error: rowwise "x": body returns no 'y', which is an output
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) return { d.x } end,
}
