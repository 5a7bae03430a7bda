-- What is left of an op when a library has computed its products, for `kiln bench`, with K = 0.  Full inputs come
-- through the ring of A and B: deep, it keeps memory busy.
local types   = { { a = bf16, b = bf16, e = bf16 } }
local layouts = { "rcr" }
local tiles   = {
  sm_90a = { wgmma { m = 128, n = { 64, 128, 256 }, depth = { 4, 6 }, cluster = 1, e_depth = { 2, 4 } } },
}

-- E = product * gate, of add_fastgelu_multiply.
gemm "elementwise_multiply" {
  types    = types,
  layouts  = layouts,
  d        = { product = full "e", gate = full "e" },
  tiles    = tiles,
  epilogue = function(acc, d) return acc + d.product * d.gate end,
}

-- E = product * row_scale * col_scale, of multiply_multiply after a plain product.
gemm "elementwise_scale" {
  types    = types,
  layouts  = layouts,
  d        = { product = full "e", row_scale = per_row(f32), col_scale = per_col(f32) },
  tiles    = tiles,
  epilogue = function(acc, d) return acc + d.product * d.row_scale * d.col_scale end,
}

-- E = silu(gate) * up, of swiglu after both products.
gemm "elementwise_swiglu" {
  types    = types,
  layouts  = layouts,
  d        = { gate = full "e", up = full "e" },
  tiles    = tiles,
  epilogue = function(acc, d) return acc + silu(d.gate) * d.up end,
}
