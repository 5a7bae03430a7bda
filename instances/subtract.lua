-- E = A·B - D.
gemm "subtract" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { other = full "e" },
  epilogue = function(acc, d) return acc - d.other end,
}
