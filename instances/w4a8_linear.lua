-- E = (A·B) * row[m] * col[n]: int8 activations with a scale per row (token), int4 weights with one per column.
-- Products and sums are of whole numbers, exactly.
gemm "w4a8_linear" {
  types    = { { a = i8, b = i4, e = bf16 },
               { a = i8, b = i4, e = f16 } },
  layouts  = { "rcr" },
  d        = { row = per_row(f32), col = per_col(f32) },
  epilogue = function(acc, d) return acc * d.row * d.col end,
}
