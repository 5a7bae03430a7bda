-- expect: 4:13: error: rowwise "x": sums: expected compensated, got the text 'exact'
rowwise "x" {
  types   = { { x = f16 } },
  sums    = "exact",
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return d.x - row_mean(d.x) end,
}
