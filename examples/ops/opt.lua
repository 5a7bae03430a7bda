-- SPDX-License-Identifier: MIT
-- What smoothquant_opt.py needs beside instances/: what stands between the int8 products of an OPT layer with residuals
-- in f32, and a product into f16 for attention.

-- sum = x + residual; y = layernorm(sum) in i8, of weight and bias that have the scale in them.  Sums are compensated
-- here and below: whichever kernel runs, what is rounded to i8 is the same.
rowwise "opt_add_layernorm_i8" {
  types   = { { x = f32, y = i8 } },
  sums    = compensated,
  d       = { x = full "x", residual = full "x", weight = per_col "x", bias = per_col "x" },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "y" },
  body    = function(d, s)
    local sum = d.x + d.residual
    local centred = sum - row_mean(sum)
    return { sum = sum, y = centred * rsqrt(row_mean(centred * centred) + s.eps) * d.weight + d.bias }
  end,
  tiles   = { sm_90a = { simt { lanes = 256, rows = 1, v = { 1, 3 }, resident = 1, split = 1 }, -- 2048 columns; 5120
                         simt { lanes = 512, rows = 1, v = 2, resident = 0, split = 1 } } },
}

-- e^x for x <= 0 within 2^-18 where it is above 1/512: (1 + y + y^2/2 + ... + y^5/120)^64, y = x/64.  Multiplications
-- and additions alone: the same number on every machine, which exp is not.
local function exponential(x)
  local y = max(x, -30) * (1 / 64)
  local e = 1 / 120
  for _, c in ipairs { 1 / 24, 1 / 6, 1 / 2, 1, 1 } do e = e * y + c end
  for _ = 1, 6 do e = e * e end
  return e
end

-- y = 127 * softmax of each row up to its own column; each of the others counts e^-30.  1 / sum is written as a root,
-- which every machine rounds alike.
rowwise "opt_causal_softmax_i8" {
  types   = { { x = f32, y = i8 } },
  sums    = compensated,
  d       = { x = full "x" },
  outputs = { y = full "y" },
  body    = function(d, _, at)
    local x = select(le(at.col, at.row), d.x, -1e30)
    local e = exponential(x - row_max(x))
    local sum = row_sum(e)
    return e * (127 * rsqrt(sum * sum))
  end,
  tiles   = { sm_90a = { simt { lanes = 64, rows = 1, v = 4, resident = 1, split = 1 }, -- 2048 columns
                         simt { lanes = 512, rows = 1, v = 2, resident = 0, split = 1 } } },
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
