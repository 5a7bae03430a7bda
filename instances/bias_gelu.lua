-- E = gelu(A·B + bias), the exact gelu (erf).  First half of a BERT or ViT feed-forward block.
gemm "bias_gelu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return gelu(acc + d.bias) end,
}
