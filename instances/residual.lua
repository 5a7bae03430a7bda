-- SPDX-License-Identifier: MIT
-- What stands between a transformer's products: an activation with its bias, sums with the residual.
rowwise "gelu_bias" {
  types   = { { x = bf16 }, { x = f16 } },
  d       = { x = full "x", bias = per_col "x" },
  outputs = { y = full "x" },
  body    = function(d) return gelu(d.x + d.bias) end,
}

rowwise "residual_add" {
  types   = { { x = bf16 }, { x = f16 } },
  d       = { x = full "x", residual = full "x" },
  outputs = { y = full "x" },
  body    = function(d) return d.x + d.residual end,
}

rowwise "bias_residual_add" {
  types   = { { x = bf16 }, { x = f16 } },
  d       = { x = full "x", residual = full "x", bias = per_col "x" },
  outputs = { y = full "x" },
  body    = function(d) return d.x + d.bias + d.residual end,
}
