-- E = (A·B) * row_scale * col_scale: undoes per-token quantisation of A and per-channel
-- quantisation of B (int8 and fp8 linear layers of inference engines).
gemm "multiply_multiply" {
  types    = { { a = f16,        b = f16,        e = f16  },
               { a = bf16,       b = bf16,       e = bf16 },
               { a = i8,         b = i8,         e = bf16 },
               { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr", "rrr" },
  d        = { row_scale = per_row(f32), col_scale = per_col(f32) },
  epilogue = function(acc, d) return acc * d.row_scale * d.col_scale end,
}
