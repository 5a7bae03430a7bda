-- E = gelu_tanh(A·B + D) * gate, with whole matrices D and gate: a gated feed-forward layer whose gate is known.
gemm "add_fastgelu_multiply" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { residual = full "e", gate = full "e" },
  epilogue = function(acc, d) return gelu_tanh(acc + d.residual) * d.gate end,
}
