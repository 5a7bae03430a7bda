-- E = A·B in blocks of 128 along K, each times its scales, rows of E with the B of their group
-- Experts in fp8, with a scale for each row and 128 columns of activations and for each 128 x 128 of weights.
gemm "moe_blockscale" {
  types    = { { a = f8e4m3,     b = f8e4m3,     e = bf16 },
               { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
  layouts  = { "rcr" },
  groups   = true,
  d        = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.a_scale * d.b_scale end,
  epilogue = function(acc) return acc end,
}
