-- expect: 5:23: error: unknown name 'per_colum' (did you mean 'per_col'?); functions are full, per_row, per_col, per_tensor, per_block, relu, leaky_relu, gelu, gelu_tanh, silu, sigmoid, tanh, exp, log, sqrt, rsqrt, abs, min, max, clamp, round, select, lt, le, gt, ge, cast, floor, eq, ne, and_, or_, not_
gemm "x" {
  types    = { { a = f16, b = f16, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_colum "e" },
  epilogue = function(acc, d) return acc + d.bias end,
}
