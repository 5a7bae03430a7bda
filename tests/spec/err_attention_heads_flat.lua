-- expect: 5:13: error: attention "my_op": heads: row 1: expected a list of dim, dimv, got the number 64
-- expect: 5:17: error: attention "my_op": heads: row 2: expected a list of dim, dimv, got the number 64
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { 64, 64 },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
