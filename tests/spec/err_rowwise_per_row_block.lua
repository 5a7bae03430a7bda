-- expect: 8:23: error: rowwise "x": output 'm' is per_row, but its value varies along columns: block_max(..., 64) does (line 7)
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x", m = per_row(f32) },
  body     = function(d)
    local m = block_max(d.x, 64)
    return { y = d.x, m = m }
  end,
}
