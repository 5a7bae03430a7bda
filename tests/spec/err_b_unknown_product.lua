-- expect: 6:44: error: gemm "x": unknown product 'gat' (did you mean 'gate'?)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc.gat) * acc.up end,
}
