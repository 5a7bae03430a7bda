-- E = (A·B - mean) / sqrt(variance + epsilon) * gamma + beta, variance = mean_square - mean^2: layer
-- normalisation of a product whose row statistics are known.  Rounding may not push variance below 0.
gemm "normalize" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { mean = per_row(f32), mean_square = per_row(f32),
               gamma = per_col "e", beta = per_col "e" },
  scalars  = { "epsilon" },
  epilogue = function(acc, d, s)
    local variance = max(d.mean_square - d.mean * d.mean, 0)
    return (acc - d.mean) * rsqrt(variance + s.epsilon) * d.gamma + d.beta
  end,
}
