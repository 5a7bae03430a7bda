-- E = relu(A·B + D) with a whole matrix D.  For a bias vector see bias_relu.
gemm "add_relu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { residual = full "e" },
  epilogue = function(acc, d) return relu(acc + d.residual) end,
}
