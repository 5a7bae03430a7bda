-- E = (A·B) * scale: bf16 activations, int8 weights with one scale per output column.
-- Every int8 is exact in bf16, and scaling the sum once is the same as scaling each weight.
gemm "a16w8_linear" {
  types    = { { a = bf16, b = i8, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  b_op     = function(w) return cast(w, bf16) end,
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.scale end,
}
