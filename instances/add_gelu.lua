-- E = gelu(A·B + D) with a whole matrix D and the exact gelu.  For a bias vector see bias_gelu.
gemm "add_gelu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { residual = full "e" },
  epilogue = function(acc, d) return gelu(acc + d.residual) end,
}
