-- expect: 3:13: error: attention "my_op": types: row 1: o must be f32, f16, bf16 or an fp8
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = i8 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
