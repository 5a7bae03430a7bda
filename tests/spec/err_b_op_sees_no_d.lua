-- expect: 6:14: error: gemm "x": b_op has 2 arguments: it gets one, the element
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { scale = per_col(f32) },
  b_op     = function(x, d) return x * d.scale end,
  epilogue = function(acc, d) return acc * d.scale end,
}
