-- E = clamp(scale * relu(A·B + bias)): int8 in and out; int32 bias in units of s_a*s_b; one scale
-- s_a*s_b/s_e for the tensor.
-- The conversion to E rounds to nearest even and saturates at -128 and 127: that is the clamp.
gemm "add_activation_mul_clamp" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  d        = { bias = per_col(i32) },
  scalars  = { "scale" },
  epilogue = function(acc, d, s) return s.scale * relu(acc + d.bias) end,
}
