-- expect: 5:36: error: gemm "x": input 'scale' is never used
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col "e", scale = per_row(f32) },
  epilogue = function(acc, d) return acc + d.bias end,
}
