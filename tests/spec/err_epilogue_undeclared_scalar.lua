-- expect: 6:49: error: gemm "x": undeclared scalar 'aplha' (did you mean 'alpha'?)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { "alpha" },
  epilogue = function(acc, d, s) return acc * s.aplha end,
}
