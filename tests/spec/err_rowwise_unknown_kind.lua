-- expect: 4:20: error: unknown name 'fulll' (did you mean 'full'?); functions are full, per_row, per_col, per_tensor, per_block, relu, leaky_relu, gelu, gelu_tanh, silu, sigmoid, tanh, exp, log, sqrt, rsqrt, abs, min, max, clamp, round, select, lt, le, gt, ge, cast, floor, eq, ne, and_, or_, not_, row_sum, row_mean, row_max, row_min, block_sum, block_mean, block_max, block_min
rowwise "x" {
  types    = { { x = bf16, y = f8e4m3 } },
  d        = { x = fulll "x", weight = per_col "x" },
  scalars  = { "eps" },
  outputs  = { y = full "y", scale = per_row(f32) },
  body     = function(d, s)
    local y = d.x * rsqrt(row_mean(d.x * d.x) + s.eps) * d.weight
    local scale = row_max(abs(y)) / 448
    return { y = y / scale, scale = scale }
  end,
}
