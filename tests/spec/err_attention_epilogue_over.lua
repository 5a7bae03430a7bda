-- expect: 7:32: error: attention "my_op": epilogue: d.bias differs along kv, and what the function gives does not
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
  epilogue = function(x, s, d) return x * d.bias end,
}
