-- expect: 5:39: error: gemm "x": arithmetic on a condition, which only select, and_, or_ and not_ take
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc * gt(acc, 0) end,
}
