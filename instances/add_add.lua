-- E = A·B + bias + D: the last projection of a transformer block with its residual stream.
gemm "add_add" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e", residual = full "e" },
  epilogue = function(acc, d) return acc + d.bias + d.residual end,
}
