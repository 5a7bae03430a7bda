-- expect: 6:9: error: attention "my_op": 'q_begin' is what an index array of this op is called
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  lengths = ragged,
  d = { q_begin = per_head(f32) },
  score = function(x, at, s, d) return x * d.q_begin end,
}
