-- expect: 7:3: error: attention "my_op": unknown field 'layouts'; fields are types, heads, mask, lengths, kv, d, scalars, outputs, score, sink, epilogue, tiles, targets and check
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
  layouts = { "rrr" },
}
