-- expect: 9:16: error: gemm "x": d.a: 'a' is what another tensor of this op is called
-- expect: 9:34: error: gemm "x": d.up: 'up' is what another tensor of this op is called
-- expect: 16:14: error: gemm "y": b: 'e' is what another tensor of this op is called
-- expect: 23:13: error: attention "z": d.o: 'o' is what another tensor of this op is called
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { a = per_row(f32), up = per_col "e" },
  epilogue = function(acc, d) return acc.gate * d.a + acc.up * d.up end,
}
-- The one product's own name is free where there are two.
gemm "y" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "b", "e" },
  d        = { c = full "e" },
  epilogue = function(acc, d) return acc.b + acc.e + d.c end,
}
attention "z" {
  types = { { q = f16, k = f16, v = f16, o = f16 } },
  heads = { { 64, 64 } },
  d     = { o = per_head(f32) },
  score = function(x, at, s, d) return x * d.o end,
}
