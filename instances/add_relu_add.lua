-- E = relu(A·B + bias) + D: a residual connection around the activation.
gemm "add_relu_add" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", residual = full "e" },
  epilogue = function(acc, d) return relu(acc + d.bias) + d.residual end,
}
