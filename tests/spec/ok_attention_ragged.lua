-- Rows of all sequences in one matrix, K and V in pages: words with and without quotes, a number.
local types, heads = { { q = f16, k = f16, v = f16, o = f16 } }, { { 64, 64 } }
attention "ragged_op" { types = types, heads = heads, lengths = "ragged" }
attention "paged_op" { types = types, heads = heads, kv = paged(16) }
attention "both" {
  types = types, heads = heads, lengths = ragged, kv = paged(1), mask = causal,
  d = { a = per_head(f32), b = per_head(f32), c = per_head(f32) },
  score = function(x, at, s, d) return x * d.a * d.b * d.c end,
  outputs = { lse = per_query(f32) },
}
-- Sizes at the end of a shape that an op has not may be left out.
attention "brief" { types = types, heads = heads, check = { shapes = { { 2, 1, 3, 40, 0, 0 }, { 2, 1, 3, 40, 0, 0, 0, 0 } } } }
