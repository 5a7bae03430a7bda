-- E = alpha * (A·B) + beta * bias, all int8: SmoothQuant's linear layer (OPT's q, k, v projections);
-- alpha = s_a*s_b/s_e, beta = s_bias/s_e.  Rounds to nearest even, saturates.
gemm "linear_abde_i8" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  d        = { bias = per_col(i8) },
  scalars  = { "alpha", "beta" },
  epilogue = function(acc, d, s) return s.alpha * acc + s.beta * d.bias end,
  check    = { shapes = { { 64, 80, 5120 } } },
}
