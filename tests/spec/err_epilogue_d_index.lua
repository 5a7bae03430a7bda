-- expect: 6:3: error: gemm "x": indexes 'd' with a number: its fields are names
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col() },
  epilogue = function(acc, d) return acc + d[1] end,
}
