-- E = alpha * (A·B) + beta * C, as in BLAS; C and E are separate matrices.
gemm "bilinear" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { c = full "e" },
  scalars  = { "alpha", "beta" },
  epilogue = function(acc, d, s) return s.alpha * acc + s.beta * d.c end,
}
