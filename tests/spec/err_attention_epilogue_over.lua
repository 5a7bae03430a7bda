-- expect: 7:45: error: attention "my_op": epilogue: input 'bias' is full, which epilogue does not take: use it in score
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
  epilogue = function(x, s, d) return x * d.bias end,
}
