-- E = sum over blocks g of 128 along K of (A_g·B_g) * w_scale[g, n / 128], + bias: 16-bit activations, fp8 or int8
-- weights (N x K) with a scale for each 128 x 128.  Batched as any gemm is: batch=, and strides, of the scales, too.
gemm "a16w8_blockscale" {
  types    = { { a = f16,  b = f8e4m3, e = f16  },
               { a = bf16, b = f8e4m3, e = bf16 },
               { a = f16,  b = i8,     e = f16  },
               { a = bf16, b = i8,     e = bf16 } },
  layouts  = { "rcr" },
  d        = { w_scale = per_block("b", f32, 128, 128), bias = per_col "e" },
  block    = function(acc, d) return acc * d.w_scale end,
  epilogue = function(acc, d) return acc + d.bias end,
}
