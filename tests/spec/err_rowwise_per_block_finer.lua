-- expect: 8:23: error: rowwise "x": output 'm' has one value for 128 columns, but its value varies within them: block_max(..., 64) does (line 7)
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x" },
  outputs  = { y = full "x", m = per_block(f32, 1, 128) },
  body     = function(d)
    local m = block_max(d.x, 64) + row_min(d.x)
    return { y = d.x, m = m }
  end,
}
