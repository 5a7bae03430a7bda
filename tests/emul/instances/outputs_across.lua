-- SPDX-License-Identifier: MIT
-- Kernels of `wgmma` whose blocks of E's columns lie along the side of 64s, for their emulation: lanes', rows', warps' and
-- two warpgroups'.
gemm "emul_outputs_across" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  d        = { bias = per_col(f32), w = per_row(f32) },
  outputs  = { scale = per_block("e", f32, 1, 64), amax = per_row(f32), sums = per_col(f32),
               eight = per_block("e", f32, 1, 8), sixteen = per_block("e", f32, 1, 16) },
  epilogue = function(acc, d)
    local y = silu(acc.gate) * acc.up + d.bias * d.w
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale, amax = row_max(abs(y)), sums = col_sum(y), eight = block_mean(y, 8),
             sixteen = block_mean(y, 16) }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 }, swap = 1, e_depth = 1 },
                          wgmma { m = 24, n = 128, depth = 3, cluster = 1, swap = 1, e_depth = 1 },
                          simt { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 } } },
}
gemm "emul_outputs_across_wide" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 }, { a = bf16, b = bf16, e = f32 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { residual = full "e" },
  outputs  = { scale = per_block("e", f32, 1, 128), small = per_block("e", f32, 1, 32), amax = per_row(f32) },
  epilogue = function(acc, d)
    local y = acc + d.residual
    local scale = max(block_max(abs(y), 128), 1e-10) / 448
    return { e = y / scale, scale = scale, small = block_mean(y / scale, 32), amax = row_max(abs(y)) }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 128, depth = 4, cluster = { 1, 2 }, swap = { 0, 1 }, e_depth = 1 },
                          simt { m = 64, n = 128, k = 16, tm = 4, tn = 8, split_k = 1 } } },
}
-- Rows of groups, which end anywhere, as the other side; a full input, and sums over blocks of K.
gemm "emul_outputs_across_groups" {
  types    = { { a = bf16, b = bf16, e = bf16 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true,
  d        = { residual = full "e" },
  outputs  = { scale = per_block("e", f32, 1, 64), two = per_block("e", f32, 1, 2), all = full(f32) },
  epilogue = function(acc, d)
    local y = acc + d.residual
    local scale = max(block_max(abs(y), 64), 1e-10)
    return { e = y / scale, scale = scale, two = block_sum(y, 2), all = y }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 4, cluster = { 1, 2 }, swap = { 0, 1 }, e_depth = 1 },
                          simt { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 } } },
}
gemm "emul_outputs_across_scaled" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f8e4m3 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 128, 128) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  outputs  = { scale = per_block("e", f32, 1, 128) },
  epilogue = function(acc)
    local y = silu(acc.gate) * acc.up
    local scale = max(block_max(abs(y), 128), 1e-10) / 448
    return { e = y / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 32, n = 128, depth = 3, cluster = 1, e_depth = 1, collect = 1, swap = 1 },
                          simt { m = 16, n = 128, k = 16, tm = 4, tn = 8, split_k = 1 } } },
}
