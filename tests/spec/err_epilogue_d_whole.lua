-- expect: 6:42: error: gemm "x": arithmetic on 'd' as a whole (write d.bias)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col "e" },
  epilogue = function(acc, d) return acc + d end,
}
