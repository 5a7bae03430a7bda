-- E = max(A·B, D), element by element; NaN where either is NaN.
gemm "max" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { other = full "e" },
  epilogue = function(acc, d) return max(acc, d.other) end,
}
