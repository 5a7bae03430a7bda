-- expect: 5:14: error: gemm "x": b: 3 names, at most 2 are possible
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  b        = { "q", "k", "v" },
  epilogue = function(acc) return acc end,
}
