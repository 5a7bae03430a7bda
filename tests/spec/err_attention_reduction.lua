-- expect: 6:40: error: attention "my_op": row_max: score gets one element at a time, so it has nothing to reduce
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return row_max(x) + d.bias end,
}
