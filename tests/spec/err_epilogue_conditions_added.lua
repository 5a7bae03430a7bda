-- expect: 5:46: error: gemm "x": arithmetic on a condition, which only select, and_, or_ and not_ take
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return lt(acc, 0) + gt(acc, 1) end,
}
