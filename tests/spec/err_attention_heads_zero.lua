-- expect: 4:19: error: attention "my_op": heads: row 1: expected 1 .. 1024, got 0
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 0 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
