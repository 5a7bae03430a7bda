-- expect: 6:16: error: gemm "x": 'begin' is what an index array of this op is called
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  groups   = true,
  d        = { begin = per_col(f32) },
  epilogue = function(acc, d) return acc + d.begin end,
}
