-- expect: 5:35: error: gemm "x": unknown name 'reul' (did you mean 'relu'?); functions are relu, leaky_relu, gelu, gelu_tanh, silu, sigmoid, tanh, exp, log, sqrt, rsqrt, abs, min, max, clamp, round, select, lt, le, gt, ge, cast, floor, eq, ne, and_, or_, not_
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  epilogue = function(acc) return reul(acc) end,
}
