-- expect: 5:23: error: gemm "x": check.rtol: expected a number between 0 and 1, got the number 1
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  check    = { rtol = 1 },
  epilogue = function(acc) return acc end,
}
