gemm "gated" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  d        = { bias = per_col(f32) },
  epilogue = function(acc, d) return silu(acc.gate + d.bias) * acc["up"] end,
}
