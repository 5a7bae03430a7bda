-- E = sum over blocks g of 128 along K of (A_g·B_g) * a_scale[m, g] * b_scale[g, n / 128]: fp8 activations with a scale
-- for each row and 128 columns, fp8 weights with one for each 128 x 128.  Alone; with a bias; with a residual.
-- "rcr" is AITER's gemm_a8w8_blockscale and DeepSeek's layers: activations, weights (N x K) and scales row by row.  In
-- "crr" all four, weights and their scales as N x K, lie column by column.
local function blockscale(name, more, epilogue)
  local d = { a_scale = per_block("a", f32, 1, 128), b_scale = per_block("b", f32, 128, 128) }
  for input, kind in pairs(more) do d[input] = kind end
  gemm(name) {
    types    = { { a = f8e4m3,     b = f8e4m3,     e = bf16 },
                 { a = f8e4m3fnuz, b = f8e4m3fnuz, e = bf16 } },
    layouts  = { "rcr", "crr" },
    d        = d,
    block    = function(acc, s) return acc * s.a_scale * s.b_scale end,
    epilogue = epilogue,
  }
end

blockscale("gemm_a8w8_blockscale", {}, function(acc) return acc end)
blockscale("gemm_a8w8_blockscale_bias", { bias = per_col "e" }, function(acc, d) return acc + d.bias end)
blockscale("gemm_a8w8_blockscale_residual", { residual = full "e" }, function(acc, d) return acc + d.residual end)
