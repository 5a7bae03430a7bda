-- expect: 7:23: error: rowwise "x": output 'm' has one value for 128 columns, but its value varies within them: d.w does (line 7)
rowwise "x" {
  types    = { { x = bf16 } },
  d        = { x = full "x", w = per_col "x" },
  outputs  = { y = full "x", m = per_block(f32, 1, 128) },
  body     = function(d)
    return { y = d.x, m = d.w * 2 }
  end,
}
