-- E = gelu_tanh((A·B) * scale + bias), scale and bias per column.
gemm "multiply_add_fastgelu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", scale = per_col "e" },
  epilogue = function(acc, d) return gelu_tanh(acc * d.scale + d.bias) end,
}
