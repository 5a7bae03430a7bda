-- expect: 7:10: error: attention "my_op": mask: expected causal or window, got the number 3
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
  mask = 3,
}
