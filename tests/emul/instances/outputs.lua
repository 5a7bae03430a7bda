-- SPDX-License-Identifier: MIT
-- Kernels of `wgmma` with outputs beside E, for their emulation: of elements, of blocks of 2 to 64 columns, every way out,
-- with groups and sums over blocks of K.
local any = { m = 32, n = 64, k = 16, tm = 2, tn = 4, split_k = 1 }
local bytes = { m = 64, n = 64, k = 64, tm = 4, tn = 4, split_k = 1 }
gemm "emul_outputs" {
  types    = { { a = bf16, b = bf16, e = f8e4m3 }, { a = f16, b = f16, e = f32 } },
  layouts  = { "rcr", "rrr" },
  targets  = { "sm_90a" },
  b        = { "gate", "up" },
  outputs  = { scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc)
    local y = silu(acc.gate) * acc.up
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 }, e_depth = { 0, 1 } },
                          wgmma { m = 128, n = 128, depth = 2, cluster = 2, e_depth = 1 }, simt(any) } },
}
gemm "emul_outputs_inputs" {
  types    = { { a = i8, b = i8, e = f16 }, { a = f8e4m3, b = f8e4m3, e = bf16 } },
  layouts  = { "rcr", "rcc" },
  targets  = { "sm_90a" },
  d        = { bias = per_col(f32), weight = per_row(f32), tensor = per_tensor(f32) },
  scalars  = { "alpha" },
  outputs  = { small = per_block("e", f32, 1, 4, "c"), two = per_block("e", bf16, 1, 2), pre = full(f16),
               across = full(f32, "c"), mean = per_block("e", f32, 1, 32) },
  epilogue = function(acc, d, s)
    local y = (acc * d.tensor + d.bias) * d.weight
    local mean = block_mean(y, 32)
    return { e = y - mean + s.alpha, small = block_sum(y - mean, 4), two = block_min(y, 2), pre = y, across = y * 2,
             mean = mean }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = { 1, 2 } },
                          wgmma { m = 64, n = 32, depth = 3, cluster = 1, pingpong = 1 },
                          simt(bytes) } },
}
gemm "emul_outputs_groups" {
  types    = { { a = f8e4m3, b = f8e4m3, e = f8e4m3 } },
  layouts  = { "rcr" },
  targets  = { "sm_90a" },
  groups   = true, gather = true,
  b        = { "gate", "up" },
  d        = { of_a = per_block("a", f32, 1, 128), of_b = per_block("b", f32, 64, 128), weight = per_row(f32) },
  block    = function(acc, d) return acc * d.of_a * d.of_b end,
  outputs  = { scale = per_block("e", f32, 1, 64) },
  epilogue = function(acc, d)
    local y = silu(acc.gate) * acc.up * d.weight
    local scale = max(block_max(abs(y), 64), 1e-10) / 448
    return { e = y / scale, scale = scale }
  end,
  tiles    = { sm_90a = { wgmma { m = 64, n = 64, wg = 1, depth = 3, cluster = 1, e_depth = 1, collect = 1 },
                          wgmma { m = 128, n = 64, depth = 3, cluster = 2, e_depth = 1, collect = 1 },
                          simt { m = 32, n = 64, k = 32, tm = 2, tn = 4, split_k = 1 } } },
}
