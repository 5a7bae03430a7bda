-- expect: 3:13: error: attention "my_op": types: row 1: k must be f32, f16, bf16 or an fp8
attention "my_op" {
  types = { { q = f16, k = i8, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
