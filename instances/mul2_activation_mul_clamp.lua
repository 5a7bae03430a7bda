-- E = clamp(scale_out * gelu(row_scale * col_scale * (A·B))): int8 in and out; A quantised per row
-- (token), B per column (channel); scale_out = 1/s_e.
-- The conversion to E rounds to nearest even and saturates at -128 and 127: that is the clamp.
gemm "mul2_activation_mul_clamp" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  d        = { row_scale = per_row(f32), col_scale = per_col(f32) },
  scalars  = { "scale_out" },
  epilogue = function(acc, d, s) return s.scale_out * gelu(acc * d.row_scale * d.col_scale) end,
}
