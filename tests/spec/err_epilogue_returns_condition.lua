-- expect: 5:28: error: gemm "x": epilogue returns a condition: write select(cond, x, y)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return lt(acc, 0) end,
}
