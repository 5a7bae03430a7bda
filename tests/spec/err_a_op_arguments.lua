-- expect: 6:14: error: gemm "x": a_op has 3 arguments: it gets two, x and d
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { scale = per_row(f32) },
  a_op     = function(x, d, s) return x * d.scale end,
  epilogue = function(acc) return acc end,
}
