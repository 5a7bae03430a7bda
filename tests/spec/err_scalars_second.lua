-- expect: 6:46: error: gemm "x": undeclared input 'alpha': the op has no d; scalars come third: function(acc, d, s)
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { "alpha" },
  epilogue = function(acc, s) return acc * s.alpha end,
}
