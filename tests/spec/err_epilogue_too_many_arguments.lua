-- expect: 5:14: error: gemm "x": epilogue has 4 arguments: it gets three, acc, d and s
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc, d, s, t) return acc end,
}
