-- E = silu(A·B + bias), silu(x) = x / (1 + exp(-x)).
gemm "add_silu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return silu(acc + d.bias) end,
}
