-- expect: 5:16: error: gemm "x": scalars: expected a list of names, found the key 'alpha'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { alpha = 1 },
  epilogue = function(acc) return acc end,
}
