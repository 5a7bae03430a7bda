-- expect: 4:11: error: attention "my_op": heads: 17 rows, at most 16 are possible
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 8, 8 }, { 16, 8 }, { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 8 }, { 56, 8 }, { 64, 8 }, { 72, 8 }, { 80, 8 }, { 88, 8 }, { 96, 8 }, { 104, 8 }, { 112, 8 }, { 120, 8 }, { 128, 8 }, { 136, 8 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
