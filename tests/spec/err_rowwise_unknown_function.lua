-- expect: 6:33: error: rowwise "x": unknown name 'row_summ' (did you mean 'row_sum'?); functions are relu, leaky_relu, gelu, gelu_tanh, silu, sigmoid, tanh, exp, log, sqrt, rsqrt, abs, min, max, clamp, round, select, lt, le, gt, ge, cast, floor, eq, ne, and_, or_, not_, row_sum, row_mean, row_max, row_min, block_sum, block_mean, block_max, block_min
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = full "x" },
  outputs  = { y = full "y" },
  body     = function(d) return row_summ(d.x) end,
}
