-- expect: 5:24: error: gemm "x": product 'up' is never used
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gate) end,
}
