-- E = gelu_tanh((A·B) * scale): a scale per column first, as after quantised weights.
gemm "multiply_fastgelu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { scale = per_col "e" },
  epilogue = function(acc, d) return gelu_tanh(acc * d.scale) end,
}
