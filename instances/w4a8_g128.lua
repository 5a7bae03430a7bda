-- E = (sum over blocks of 128 along K of (A·B) * group) * row[m]: int8 activations with a scale per row (token), int4
-- weights with one for each 128 along K and column.  Sums of a block are of whole numbers, exactly.
gemm "w4a8_g128" {
  types    = { { a = i8, b = i4, e = bf16 },
               { a = i8, b = i4, e = f16 } },
  layouts  = { "rcr" },
  d        = { group = per_block("b", f32, 1, 128), row = per_row(f32) },
  block    = function(acc, d) return acc * d.group end,
  epilogue = function(acc, d) return acc * d.row end,
}
