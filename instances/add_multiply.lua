-- E = (A·B + bias) * D: a projection with bias, gated element by element.
gemm "add_multiply" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", gate = full "e" },
  epilogue = function(acc, d) return (acc + d.bias) * d.gate end,
}
