-- expect: 6:49: error: gemm "x": d.s_a: one of each product's is called 's_a_b', as another is
gemm "x" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "a_b", "b" },
  d        = { s = per_block("b", f32, 1, 128), s_a = per_block("b", f32, 1, 128) },
  block    = function(acc, d) return acc * d.s * d.s_a end,
  epilogue = function(acc) return acc.a_b + acc.b end,
}
