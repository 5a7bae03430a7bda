-- expect: 4:13: error: rowwise "x": sums = compensated: body has no row_sum, row_mean, block_sum or block_mean: leave it out
rowwise "x" {
  types   = { { x = f16 } },
  sums    = compensated,
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return d.x - row_max(d.x) end,
}
