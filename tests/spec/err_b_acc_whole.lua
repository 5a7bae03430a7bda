-- expect: 6:35: error: gemm "x": silu: operand 1 is 'acc' as a whole (write acc.gate)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "gate", "up" },
  epilogue = function(acc) return silu(acc) * acc.up end,
}
