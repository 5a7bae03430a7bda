-- E = sum over blocks g of 128 along K of (A_g·B_g) * a_scale[m, g] * b_scale[g, n / 128], + residual: fp8 activations
-- with a scale for each row and 128 columns, fp8 weights with one for each 128 x 128.
-- "rcr" is AITER's gemm_a8w8_blockscale and DeepSeek's layers: activations, weights (N x K) and scales row by row.  In
-- "crr" all four, weights and their scales as N x K, lie column by column.
gemm "gemm_a8w8_blockscale_residual" {
  types    = { { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr", "crr" },
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128),
               residual = full "e" },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc, d) return acc + d.residual end,
}
