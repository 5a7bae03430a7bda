-- E = clamp(scale_out * tanh(scale_acc * (A·B))): int8 in and out; scale_acc = s_a*s_b for the
-- tensor; scale_out = 1/s_e.
-- The conversion to E rounds to nearest even and saturates at -128 and 127: that is the clamp.
gemm "mul_activation_mul_clamp" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  scalars  = { "scale_acc", "scale_out" },
  epilogue = function(acc, _, s) return s.scale_out * tanh(s.scale_acc * acc) end,
}
