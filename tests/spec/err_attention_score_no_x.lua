-- expect: 6:33: error: attention "my_op": score never uses x, the element
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return at.q + d.bias end,
}
