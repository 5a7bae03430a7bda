-- SPDX-License-Identifier: MIT
-- y = (x - mean(x)) / sqrt(variance + eps) * weight + bias, of x or of x + residual, which is rounded and stored; and
-- SmoothQuant's, whose weight and bias have the scale in them, rounded to i8.
local function norm(x, d, s)
  local centred = x - row_mean(x)
  return centred * rsqrt(row_mean(centred * centred) + s.eps) * d.weight + d.bias
end

rowwise "layernorm" {
  types   = { { x = bf16 }, { x = f16 } },
  d       = { x = full "x", weight = per_col "x", bias = per_col "x" },
  scalars = { "eps" },
  outputs = { y = full "x" },
  body    = function(d, s) return norm(d.x, d, s) end,
}

rowwise "add_layernorm" {
  types   = { { x = bf16 } },
  d       = { x = full "x", residual = full "x", weight = per_col "x", bias = per_col "x" },
  scalars = { "eps" },
  outputs = { sum = full "x", y = full "x" },
  body    = function(d, s)
    local sum = cast(d.x + d.residual, bf16)
    return { sum = sum, y = norm(sum, d, s) }
  end,
}

rowwise "layernorm_i8" {
  types   = { { x = bf16, y = i8 }, { x = f16, y = i8 } },
  d       = { x = full "x", weight = per_col(f32), bias = per_col(f32) },
  scalars = { "eps" },
  outputs = { y = full "y" },
  body    = function(d, s) return norm(d.x, d, s) end,
}
