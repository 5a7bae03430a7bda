-- expect: 6:43: error: attention "my_op": unknown place 'row': there are at.q, at.k, at.head and at.batch
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return at.row + d.bias end,
}
