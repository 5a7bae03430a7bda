-- E = silu(A·B_gate) * (A·B_up): the gated unit of Llama, Mistral and Qwen; A is read once.
gemm "swiglu" {
  types    = { { a = f16,  b = f16,  e = f16  },
               { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
