-- E = gelu_tanh(A·B + bias + D).
gemm "add_add_fastgelu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", residual = full "e" },
  epilogue = function(acc, d) return gelu_tanh(acc + d.bias + d.residual) end,
}
