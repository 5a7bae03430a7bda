-- E = clamp(scale * relu(A·B)): int8 in and out, one scale s_a*s_b/s_e for the tensor.
-- The conversion to E rounds to nearest even and saturates at -128 and 127: that is the clamp.
-- For activations with f(c*x) = c*f(x), such as relu; mul_activation_mul_clamp takes the others.
gemm "activation_mul_clamp" {
  types    = { { a = i8, b = i8, e = i8 } },
  layouts  = { "rcr" },
  scalars  = { "scale" },
  epilogue = function(acc, _, s) return s.scale * relu(acc) end,
}
