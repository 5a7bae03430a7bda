-- E = alpha * (A·B), all int8: SmoothQuant's batched product of attention weights and values;
-- alpha = s_a*s_b/s_e.  Rounds to nearest even, saturates.  Batch count and strides at run time.
gemm "bmm_abe_i8" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  scalars  = { "alpha" },
  epilogue = function(acc, _, s) return s.alpha * acc end,
}
