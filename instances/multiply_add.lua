-- E = (A·B) * scale + bias, both per column: a linear layer over weights scaled per channel.
gemm "multiply_add" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", scale = per_col "e" },
  epilogue = function(acc, d) return acc * d.scale + d.bias end,
}
