-- SPDX-License-Identifier: MIT
-- Kernels of `wgmma_decode` with outputs beside E, for their emulation: of elements, blocks and rows; K over a cluster,
-- both sides of the product, weights that are widened, sums over blocks of K.
local any = { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 }
gemm "emul_few_outputs" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { bias = per_col(f32), weight = per_row(f16) },
  outputs  = { scale = per_block("e", f32, 1, 64), amax = per_row(f32) },
  epilogue = function(acc, d)
    local y = (silu(acc.gate) + d.bias) * acc.up
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale, amax = row_max(abs(y)) * d.weight }
  end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = { 64, 128 }, wg = 1, blocks = 2, split_k = { 1, 3 } },
                          wgmma_decode { m = 64, n = 64, wg = 1, blocks = 2, across = 1, split_k = { 0, 2 } },
                          simt(any) } },
}
gemm "emul_few_outputs_inputs" {
  types    = { { a = i8, b = i8, e = f16 }, { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { residual = full "e", other = full(f32, "c"), tensor = per_tensor(f32) },
  scalars  = { "alpha" },
  outputs  = { small = per_block("e", f32, 1, 4, "c"), two = per_block("e", bf16, 1, 2), pre = full(f16),
               across = full(f32, "c"), sums = per_row(f32) },
  epilogue = function(acc, d, s)
    local y = acc * d.tensor + d.residual
    return { e = y + s.alpha, small = block_mean(y, 4), two = block_min(y, 2), pre = y, across = y * d.other,
             sums = row_sum(y * y) + row_mean(y) }
  end,
  tiles    = { sm_90a = { wgmma_decode { m = 8, n = 32, wg = 1, blocks = 2, split_k = { 1, 4 } },
                          wgmma_decode { m = 144, n = 64, wg = 1, blocks = 1, split_k = 2 },
                          simt { m = 64, n = 64, k = 64, tm = 4, tn = 4, split_k = 1 } } },
}
gemm "emul_few_outputs_widened" {
  types    = { { a = bf16, b = u4, e = bf16 }, { a = f16, b = f8e4m3, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32) },
  outputs  = { ssq = per_row(f32), scale = per_block("e", f32, 1, 32) },
  epilogue = function(acc, d)
    local y = acc + d.bias
    return { e = y, ssq = row_sum(y * y), scale = block_max(y, 32) }
  end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 2, split_k = { 1, 2 }, sets = 1 },
                          simt(any) } },
}
gemm "emul_few_outputs_blocks" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f8e4m3 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 64, 128) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  outputs  = { scale = per_block("e", f32, 1, 64), amax = per_row(f32) },
  epilogue = function(acc)
    local scale = max(block_max(abs(acc), 64), 1e-10) / 448
    return { e = acc / scale, scale = scale, amax = row_max(abs(acc)) }
  end,
  tiles    = { sm_90a = { wgmma_decode { m = 16, n = 64, wg = 1, blocks = 2, split_k = { 1, 2 } },
                          simt { m = 32, n = 64, k = 32, tm = 2, tn = 4, split_k = 1 } } },
}
