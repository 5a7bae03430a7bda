-- expect: 5:25: error: gemm "x": scalar 'beta' is never used
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { "alpha", "beta" },
  epilogue = function(acc, d, s) return acc * s.alpha end,
}
