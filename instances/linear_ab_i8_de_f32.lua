-- E = alpha * (A·B) + beta * bias: int8 in, f32 bias and output: SmoothQuant's linear layer before
-- a residual addition (OPT's output projection and second feed-forward matrix); alpha = s_a*s_b.
gemm "linear_ab_i8_de_f32" {
  types    = { { a = i8, b = i8, e = f32 } },
  layouts  = { "rcr" },
  d        = { bias = per_col(f32) },
  scalars  = { "alpha", "beta" },
  epilogue = function(acc, d, s) return s.alpha * acc + s.beta * d.bias end,
}
