-- E = silu(A[index]·gate) * (A[index]·up), rows of E with the B's of their group
-- The first half of a mixture of experts: begin and end say on the device which rows of E are an expert's, index which
-- token each is.
gemm "moe_gate_up" {
  types    = { { a = bf16, b = bf16, e = bf16 }, { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) * acc.up end,
}
