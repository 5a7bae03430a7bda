-- E = alpha * (A·B): int8 in, f32 out: SmoothQuant's batched product of queries and keys, before
-- softmax; alpha = s_a*s_b.  Batch count and strides are given at run time.
gemm "bmm_ab_i8_e_f32" {
  types    = { { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr" },
  scalars  = { "alpha" },
  epilogue = function(acc, _, s) return s.alpha * acc end,
}
