-- SPDX-License-Identifier: MIT
-- Hugging Face's two row-wise kernels for the MI300, with their rounding: the sum is rounded to f16 and stored; the
-- variance is that of the rounded sum; the normalised value is rounded to f16, and so is its product with the weight,
-- which is then divided by a given scale.  SwiGLU: the gate comes first in one matrix of rows x 2 h.
rowwise "hf_add_rmsnorm_fp8" {
  types   = { { x = f16, y = f8e4m3fnuz } },
  d       = { x = full "x", residual = full "x", weight = per_col "x", scale = per_tensor(f32) },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "y" },
  body    = function(d, s)
    local sum = cast(d.x + d.residual, f16)
    local norm = cast(sum * rsqrt(row_mean(sum * sum) + s.eps), f16)
    return { sum = sum, y = clamp(cast(norm * d.weight, f16) / d.scale, -240, 240) }
  end,
}

rowwise "hf_silu_mul_fp8" {
  types   = { { x = f16, y = f8e4m3fnuz } },
  d       = { gate = full "x", up = full "x", scale = per_tensor(f32) },
  outputs = { y = full "y" },
  body    = function(d) return clamp(silu(d.gate) * d.up / d.scale, -240, 240) end,
}
