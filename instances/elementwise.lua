-- SPDX-License-Identifier: MIT
-- What is left of an op when a library has computed its products: the second kernels of `kiln bench --peer`.  Inputs
-- have the names that the gemm's have, `product` or the products' own.
local types = { { e = bf16 } }

-- e = product * gate, of add_fastgelu_multiply.
rowwise "elementwise_multiply" {
  types   = types,
  d       = { product = full "e", gate = full "e" },
  outputs = { e = full "e" },
  body    = function(d) return { e = d.product * d.gate } end,
}

-- e = product * row_scale * col_scale, of multiply_multiply after a plain product.
rowwise "elementwise_scale" {
  types   = types,
  d       = { product = full "e", row_scale = per_row(f32), col_scale = per_col(f32) },
  outputs = { e = full "e" },
  body    = function(d) return { e = d.product * d.row_scale * d.col_scale } end,
}

-- e = silu(gate) * up, of swiglu after both products.
rowwise "elementwise_swiglu" {
  types   = types,
  d       = { gate = full "e", up = full "e" },
  outputs = { e = full "e" },
  body    = function(d) return { e = silu(d.gate) * d.up } end,
}
