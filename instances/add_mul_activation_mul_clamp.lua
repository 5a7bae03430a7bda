-- E = clamp(scale_out * tanh(scale_acc * (A·B + bias))): int8 in and out; int32 bias in units of
-- s_a*s_b; scale_acc = s_a*s_b; scale_out = 1/s_e.
-- The conversion to E rounds to nearest even and saturates at -128 and 127: that is the clamp.
gemm "add_mul_activation_mul_clamp" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  d        = { bias = per_col(i32) },
  scalars  = { "scale_acc", "scale_out" },
  epilogue = function(acc, d, s) return s.scale_out * tanh(s.scale_acc * (acc + d.bias)) end,
}
