-- expect: 5:16: error: attention "my_op": d.bias: expected full(t), per_tensor(t), per_head(t) or per_kv_head(t), got per_row
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = per_row(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
