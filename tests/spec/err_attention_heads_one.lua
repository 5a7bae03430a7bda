-- expect: 4:13: error: attention "my_op": heads: row 1: expected { dim, dimv }, got 1 numbers
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
