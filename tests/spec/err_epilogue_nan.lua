-- expect: 5:39: error: gemm "x": a constant is not a number (NaN)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return acc * (0 / 0) end,
}
