-- E = A·B + D: a residual stream added to a projection.
gemm "add" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { residual = full "e" },
  epilogue = function(acc, d) return acc + d.residual end,
}
