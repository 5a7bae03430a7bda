-- expect: 3:13: error: attention "my_op": types: row 1: q must be f32, f16 or bf16
attention "my_op" {
  types = { { q = i8, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d = { bias = full(f16) },
  score = function(x, at, s, d) return x + d.bias end,
}
