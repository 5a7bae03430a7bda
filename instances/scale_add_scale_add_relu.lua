-- E = relu(alpha1 * (A·B) + alpha2 * D + bias): a convolution with a scaled shortcut, as a gemm.
gemm "scale_add_scale_add_relu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", residual = full "e" },
  scalars  = { "alpha1", "alpha2" },
  epilogue = function(acc, d, s) return relu(s.alpha1 * acc + s.alpha2 * d.residual + d.bias) end,
}
