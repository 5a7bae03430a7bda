-- E = scale * (A·B) + D, the scale given at each launch.
gemm "scale_add" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { residual = full "e" },
  scalars  = { "scale" },
  epilogue = function(acc, d, s) return s.scale * acc + d.residual end,
}
