-- expect: 7:21: error: attention "my_op": outputs.lse: expected per_query(t), got per_row
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
  outputs = { lse = per_row(f32) },
}
