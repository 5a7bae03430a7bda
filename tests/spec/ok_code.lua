gemm "raw" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col "e" },
  scalars  = { "alpha" },
  epilogue = code [[
    kiln_max(acc * s_alpha + d_bias,
             0.0f)
  ]],
  ref      = function(acc, d, s) return relu(acc * s.alpha + d.bias) end,
}
