-- E = product * row_scale * col_scale: what is left of multiply_multiply after a plain product.  For `kiln bench`, with K = 0.
gemm "elementwise_scale" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { product = full "e", row_scale = per_row(f32), col_scale = per_col(f32) },
  -- Full inputs come through the ring of A and B: deep, it keeps memory busy.
  tiles    = {
    sm_90a = { wgmma { m = 128, n = { 64, 128, 256 }, depth = { 4, 6 }, cluster = 1, e_depth = { 2, 4 } } },
  },
  epilogue = function(acc, d) return acc + d.product * d.row_scale * d.col_scale end,
}
