-- E = relu(A·B + bias)
gemm "bias_relu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e" },                -- extra inputs, by name
  epilogue = function(acc, d) return relu(acc + d.bias) end,
}
