rowwise "rows" {
  types   = { { x = f16 } },
  sums    = compensated,
  d       = { x = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return d.x - row_mean(d.x) end,
}

rowwise "blocks" {
  types   = { { x = f16 } },
  sums    = compensated,
  d       = { x = full "x" },
  outputs = { y = per_block("x", 1, 64) },
  body    = function(d) return block_sum(d.x, 64) end,
}
