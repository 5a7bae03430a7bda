-- expect: 2:1: error: attention "my_op": an op has at most 7 extra inputs and outputs, its index arrays among them
attention "my_op" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  lengths = ragged, kv = paged(16),
  d = { a = per_head(f32), b = per_head(f32), c = per_head(f32), e = per_head(f32), f = per_head(f32) },
  score = function(x, at, s, d) return x * d.a * d.b * d.c * d.e * d.f end,
}
