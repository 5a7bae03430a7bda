-- expect: 8:21: error: gemm "x": code: undeclared input 'd_bias'
-- expect: 8:30: error: gemm "x": code: undeclared scalar 's_beta'
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  scalars  = { "alpha" },
  epilogue = code [[
    acc * s_alpha + d_bias + s_beta
  ]],
  ref      = function(acc, d, s) return acc * s.alpha end,
}
