-- expect: 6:35: error: rowwise "x": output 'y' is 'd' as a whole: write d.NAME
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) return { y = d } end,
}
