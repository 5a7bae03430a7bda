-- expect: 6:19: error: rowwise "x": d.x: no input of rowwise may be of i4, whose elements share bytes
-- expect: 14:19: error: rowwise "y": outputs.y: no output of rowwise may be of u4, whose elements share bytes
-- Rows have whole bytes.
rowwise "x" {
  types   = { { x = f16, y = f16 }, { x = i4, y = f16 } },
  d       = { x = full "x" },
  outputs = { y = full "y" },
  body    = function(d) return d.x end,
}

rowwise "y" {
  types   = { { x = f16 } },
  d       = { x = full "x" },
  outputs = { y = full(u4) },
  body    = function(d) return d.x end,
}
