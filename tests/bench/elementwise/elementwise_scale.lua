-- E = product * row_scale * col_scale: what is left of multiply_multiply after a plain product.  For `kiln bench`, with K = 0.
gemm "elementwise_scale" {
  types    = { { a = f16, b = f16, e = f16 }, { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  d        = { product = full "e", row_scale = per_row(f32), col_scale = per_col(f32) },
  epilogue = function(acc, d) return acc + d.product * d.row_scale * d.col_scale end,
}
