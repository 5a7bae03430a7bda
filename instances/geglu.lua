-- E = gelu(A·B_gate) * (A·B_up): the gated unit of T5 v1.1 and its kin, with the exact gelu.
gemm "geglu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  b        = { "gate", "up" },
  epilogue = function(acc) return gelu(acc.gate) * acc.up end,
}
