-- expect: 2:1: error: attention "my_op": missing field 'heads': a list of rows { dim, dimv }
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
