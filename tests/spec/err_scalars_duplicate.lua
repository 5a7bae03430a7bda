-- expect: 5:25: error: gemm "x": scalars: 'alpha' is there twice
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { "alpha", "alpha" },
  epilogue = function(acc) return acc end,
}
