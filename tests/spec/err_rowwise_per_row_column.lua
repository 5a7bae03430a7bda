-- expect: 6:51: error: rowwise "x": output 'i' is per_row, but its value varies along columns: at.col does (line 6)
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x", i = per_row(i32) },
  body     = function(d, s, at) return { y = d.x, i = at.col } end,
}
