-- expect: 5:33: error: rowwise "x": outputs.s: expected full(t), per_row(t) or per_block(t, 1, n), got per_block with an operand
rowwise "x" {
  types   = { { x = bf16, y = f8e4m3 } },
  d       = { x = full "x" },
  outputs = { y = full "y", s = per_block("y", f32, 1, 128) },
  body    = function(d) return { y = d.x, s = block_max(d.x, 128) } end,
}
