-- SPDX-License-Identifier: MIT
-- What smoothquant_opt.py needs beside instances/: what stands between the int8 products of an OPT layer with residuals
-- in f32, and a product into f16 for attention.

-- sum = x + residual; y = layernorm(sum) in i8, of weight and bias that have the scale in them.
rowwise "opt_add_layernorm_i8" {
  types   = { { x = f32, y = i8 } },
  d       = { x = full "x", residual = full "x", weight = per_col "x", bias = per_col "x" },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "y" },
  body    = function(d, s)
    local sum = d.x + d.residual
    local centred = sum - row_mean(sum)
    return { sum = sum, y = centred * rsqrt(row_mean(centred * centred) + s.eps) * d.weight + d.bias }
  end,
}

-- y = 127 * softmax of each row up to its own column.
rowwise "opt_causal_softmax_i8" {
  types   = { { x = f32, y = i8 } },
  d       = { x = full "x" },
  outputs = { y = full "y" },
  body    = function(d, _, at)
    local x = select(le(at.col, at.row), d.x, -1e30)
    local e = exp(x - row_max(x))
    return 127 * (e / row_sum(e))
  end,
}

-- y = x * factor: a scale that calibration found.
rowwise "opt_quantise_i8" {
  types   = { { x = f16, y = i8 } },
  d       = { x = full "x" },
  scalars = { "factor" },
  outputs = { y = full "y" },
  body    = function(d, s) return d.x * s.factor end,
}

-- E = alpha * (A·B) + bias: queries, keys and values for attention in f16.
gemm "opt_linear_i8_f16" {
  types    = { { a = i8, b = i8, e = f16 } },
  layouts  = { "rcr" },
  d        = { bias = per_col(f32) },
  scalars  = { "alpha" },
  epilogue = function(acc, d, s) return s.alpha * acc + d.bias end,
}
