-- expect: 6:11: error: attention "my_op": score has 5 arguments: it gets four, x, at, s and d
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d, e) return x + d.bias end,
}
