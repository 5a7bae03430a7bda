-- E = clamp(scale * relu(A·B)): int8 in and out, one scale s_a*s_b[n]/s_e per column.
-- The conversion to E rounds to nearest even and saturates at -128 and 127: that is the clamp.
gemm "activation_mul2_clamp" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  d        = { scale = per_col(f32) },
  epilogue = function(acc, d) return d.scale * relu(acc) end,
}
