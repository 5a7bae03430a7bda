-- expect: 5:14: error: gemm "x": scalars: 9 names, at most 8 are possible
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { "a", "b", "c", "d", "e", "f", "g", "h", "i" },
  epilogue = function(acc) return acc end,
}
